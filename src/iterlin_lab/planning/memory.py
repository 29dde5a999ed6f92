"""What a run takes in memory, from its shapes alone: nothing of it is built."""

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from iterlin import Dual, Every, Linearised, Stepwise, cross_entropy, functional
from iterlin._batches import hoist_bytes
from iterlin._blocks import CHUNK, num_bytes
from iterlin._exact_kernel import exact_kernel_size
from iterlin._linearise import CACHE, residual_bytes
from iterlin._problem import Problem
from iterlin._records import measure
from iterlin._solvers.stepwise import advance
from iterlin._start import initial_state, lazy_problem
from iterlin._state import State, Stop
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments import chosen
from iterlin_lab.nets.shared.build import build
from iterlin_lab.planning.networks import check_networks
from iterlin_lab.runs.form import has_dual
from iterlin_lab.runs.memory import Need, keep, size
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solvers import GradientDescent, Solver, solver_of

PROCESS = 1400 * 2**20  # of one that has imported its libraries and compiles everything
STACKED = 7  # more, where runs train at once: before and after, each run has its own
WORKING = 1.5  # of what linearisation keeps: with what is computed from it
BLOCKS = 8  # of a network's blocks of examples at once, each as large as a part of the cache
RECORD = partial(measure, train="train")
PURPOSES = {"parameters": "the parameters", "data": "the data", "linearisation": "linearising the network"}
SIZES = {"data": ("num_train", "num_validation", "num_test"), "training": ("batch_size",)}


def require(scale: Any) -> Need:
    """What a run needs, which is kept: the estimate, if it fits, or if XLA says that the compiled programs do.

    **Raises**: `SystemExit` with one line that names the key to change if it does not fit, or cannot be built.
    """
    check_networks(scale)
    need = estimate_memory(scale)
    at_once, free = scale.runs_at_once, need.free()
    if scale.form == "dual" and need.dual > Dual.max_bytes:
        sys.exit(
            f"params.yaml: scale.form: the dual takes {size(need.dual)} for the largest training set, and may take "
            f"{size(Dual.max_bytes)}: make it auto or primal"
        )
    hopeless = at_once * max(need.parameters, need.data) > free  # even compiling takes long
    if need.group(at_once) > free and (hopeless or compiled_memory(scale, need) > free):
        sys.exit(refusal(scale, need))
    keep(scale, need)
    return need


def solvers(scale: Any) -> list[Solver]:
    """The solvers that cells of runs use, one of each name, and gradient descent, which others use."""
    found = [GradientDescent(name="gradient_descent"), *(solver_of(recipe.solver) for recipe in _recipes(scale))]
    return list({solver.name: solver for solver in found}.values())


def _recipes(scale: Any) -> list[Recipe]:
    """One of every cell of runs."""
    return [cell.recipes[0] for each in chosen(scale) for cell in each.trained(scale)]


def shapes(scale: Shared) -> tuple[Any, dict[str, Any]]:
    """The network and the splits of a run, as shapes."""
    data = DATA_SETS[scale.data.name]
    make = partial(build, **scale.net.model_dump(), input_shape=data.image_shape, num_classes=data.num_classes)
    splits = {
        name: (_images(data.image_shape, size), jax.ShapeDtypeStruct((size,), jnp.int32))
        for name, size in scale.data.sizes.items()
    }
    return eqx.filter_eval_shape(make, key=jax.random.key(0)), splits


def _images(shape: tuple[int, ...], number: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((number, *shape), jnp.result_type(float))


def linearisation_bytes(model: Any, x: Any, num_examples: int) -> int:
    """What the derivatives of the network keep for so many of the inputs."""

    def kept(model, x):
        params, fn = functional(model)
        return residual_bytes(fn, params, x)

    return eqx.filter_eval_shape(kept, model, jax.ShapeDtypeStruct((num_examples, *x.shape[1:]), x.dtype))


def estimate_memory(scale: Any) -> Need:
    """An estimate that does not compile anything, and is too high by up to three times rather than too low."""
    model, splits = shapes(scale)
    x, _ = splits["train"]
    # Where runs take mini-batches, those that solve to a certificate take full ones all the same.
    chosen = (len(x), min(CHUNK, len(x)), scale.training.batch_size or 1, min(CHUNK, sum(scale.data.sizes.values())))
    taken = {n: linearisation_bytes(model, x, n) for n in set(chosen)}
    whole, chunk, batch, record = (taken[n] for n in chosen)
    step = max(batch, whole if whole <= hoist_bytes(scale.runs_at_once) else chunk)
    data = DATA_SETS[scale.data.name]
    used, stacked = solvers(scale), scale.runs_at_once > 1
    copies, besides = max(solver.copies for solver in used), max(solver.besides for solver in used)
    limit = (jax.devices()[0].memory_stats() or {}).get("bytes_limit")
    shares = scale.devices if limit else 1  # those that a processor is divided into have its memory
    return Need(
        process=PROCESS + 4 * data.num_examples * math.prod(data.image_shape),  # the file that splits are drawn from
        parameters=(copies + STACKED * stacked) * _bytes(model) + besides,
        # As drawn, as stacked where runs train at once, and as one array in a record.
        data=(2 + stacked) * _bytes(splits) // shares,
        linearisation=math.ceil(WORKING * max(step, record) / shares) + BLOCKS * scale.threads * CACHE,
        dual=max(_dual_bytes(scale, model), default=0),
        device=limit,
    )


def _dual_bytes(scale: Any, model: Any) -> Iterator[int]:
    """What phases take in their dual, for each size of training sets; `auto` takes no more than `Dual` may."""
    if scale.form == "primal":
        return
    data, net = DATA_SETS[scale.data.name], scale.net.model_dump()

    def needed(model, x):
        params, fn = functional(model)
        return exact_kernel_size(fn, params, x).num_bytes

    for n in {recipe.sizes["train"] for recipe in _recipes(scale) if recipe.net == net and has_dual(recipe, model)}:
        x = _images(data.image_shape, n)
        if (found := eqx.filter_eval_shape(needed, model, x)) <= Dual.max_bytes or scale.form == "dual":
            yield found


def compiled_memory(scale: Any, need: Need) -> int:
    """Bytes of a process with its runs, from the very programs that it executes, compiled from shapes."""
    programs = max(
        _program_bytes(scale, solver.make(1e-3), scale.training.batch_size if solver.mini_batches else None)
        for solver in solvers(scale)
    )
    model, splits = shapes(scale)
    stacked = (STACKED * _bytes(model) + _bytes(splits)) * (scale.runs_at_once > 1)
    needed = need._replace(parameters=programs + stacked, data=_bytes(splits), linearisation=0)
    return needed.group(scale.runs_at_once)


def _program_bytes(scale: Shared, solver: Stepwise, batch_size: int | None) -> int:
    """What a run takes besides its data: θ_0, its state, and the larger one of a step and a record."""
    model, splits = shapes(scale)
    key = jax.eval_shape(partial(jax.random.key, 0))

    def start(model: Any, data: Any, key: Any) -> tuple[Problem, State]:
        problem, params = lazy_problem(model, data, loss=cross_entropy, batch_size=batch_size, key=key)
        return problem, initial_state(problem, params, solver, Every(1))

    problem, state = eqx.filter_eval_shape(start, model, splits["train"], key)
    params = state.params
    step = _compiled(advance, problem, solver, Every(1), state, Stop(1, 1, 1))
    record = _compiled(
        RECORD, Linearised(problem.fn, params), problem.loss, params, params, splits, problem.damping.first
    )
    return _bytes((params, state)) + max(_taken(step), _taken(record))


def _compiled(program: Callable, *arguments: Any) -> Any:
    dynamic, static = eqx.partition(arguments, lambda leaf: isinstance(leaf, jax.Array | jax.ShapeDtypeStruct))
    return jax.jit(lambda dynamic: program(*eqx.combine(dynamic, static))).lower(dynamic).compile()


def _taken(program: Any) -> int:
    memory = program.memory_analysis()
    return memory.output_size_in_bytes + memory.temp_size_in_bytes


def _bytes(tree: Any) -> int:
    return num_bytes(eqx.filter(tree, lambda leaf: hasattr(leaf, "dtype")))


def refusal(scale: Shared, need: Need) -> str:
    """Why it does not fit, and the number in params.yaml that helps most if it is halved."""
    at_once, free = scale.runs_at_once, need.free()
    if need.group(1) <= free:
        fitting = (free - need.group(0)) // (need.group(1) - need.group(0))
        return (
            f"params.yaml: scale.runs_at_once: {at_once} runs in one program need about {size(need.group(at_once))} of "
            f"memory, this machine has {size(free)}: make it at most {fitting}"
        )
    section, name, _ = min(_halved(scale), key=lambda item: estimate_memory(item[2]).group(1))
    part = max(PURPOSES, key=lambda part: getattr(need, part))
    return (
        f"params.yaml: scale.{section}: a run needs about {size(need.group(1))} of memory "
        f"({size(getattr(need, part))} of it for {PURPOSES[part]}), this machine has {size(free)}: "
        f"make {section}.{name} smaller"
    )


def _halved(scale: Shared) -> Iterator[tuple[str, str, Shared]]:
    """Each number that says how large something is, and the scale with half of it."""
    for section, names in ({"net": scale.net.sizes} | SIZES).items():
        settings = getattr(scale, section)
        for name in names:
            if value := getattr(settings, name, None):
                half = [max(1, v // 2) for v in value] if isinstance(value, list) else max(1, value // 2)
                yield section, name, scale.model_copy(update={section: settings.model_copy(update={name: half})})
