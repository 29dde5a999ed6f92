"""The programs that train, lowered for a CUDA device that is not there: whether a phase would leave the device.

Nothing is compiled or computed: jax lowers them on shapes, as it does before XLA compiles them for the device.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax

from iterlin import Every, Solver, cross_entropy
from iterlin._start import initial_state, lazy_problem
from iterlin._state import State, Stop
from iterlin_lab.experiments import chosen
from iterlin_lab.planning.memory import shapes
from iterlin_lab.planning.trace import step_and_record
from iterlin_lab.settings.solvers import solver_of

PERIOD, RATE = 1000, 1e-5  # neither changes the program


def calls(scale: Any) -> dict[str, list[str]]:
    """What each program calls outside of itself, such as functions of the host: phases of each solver, and a record.

    They are those of the scale's own network, on full batches and on mini-batches as its experiments have them.
    """
    programs: dict[str, Callable[..., Any]] = {"a record": partial(step_and_record, scale)}
    for recipe in (cell.recipes[0] for each in chosen(scale) for cell in each.trained(scale)):
        size = recipe.training["batch_size"]
        name = f"a phase of {recipe.solver['name']}" + (f" on batches of {size}" if size else "")
        programs[name] = partial(_phase, solver_of(recipe.solver).make(RATE), size)
    given = (*shapes(scale), jax.eval_shape(lambda: jax.random.key(0)))
    return {name: re.findall(r"custom_call @(\w+)", lowered(program, *given)) for name, program in programs.items()}


def lowered(fn: Callable[..., Any], *given: Any) -> str:
    """The text of a function of arrays, of which these are the shapes, for a CUDA device."""
    arrays, rest = eqx.partition(given, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def of_arrays(arrays: Any) -> Any:
        return eqx.filter(fn(*eqx.combine(arrays, rest)), eqx.is_array)

    return jax.export.export(jax.jit(of_arrays), platforms=["cuda"])(arrays).mlir_module()


def in_words(found: dict[str, list[str]]) -> str:
    """A line on the programs that stay on the device, and one on each that does not."""
    inside = [name for name, outside in found.items() if not outside]
    lines = [f"Lowered for CUDA, these call nothing outside of the device: {', '.join(inside) or 'none'}."]
    return "\n".join([*lines, *(f"{name} calls {', '.join(outside)}." for name, outside in found.items() if outside)])


def _phase(solver: Solver, batch_size: int | None, model: Any, splits: Any, key: Any) -> State:
    problem, params = lazy_problem(model, splits["train"], loss=cross_entropy, batch_size=batch_size, key=key)
    schedule = Every(PERIOD)
    return solver.advance(problem, schedule, initial_state(problem, params, solver, schedule), Stop(PERIOD, 1, 1))
