"""What a step costs on this machine: the time of the very programs that a run executes, at their true shapes."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from iterlin import BatchModel, Dual, Every, Linearised, Never, cross_entropy, dual_cost, sgd
from iterlin._blocks import CHUNK
from iterlin._execution import measured
from iterlin._solvers.stepwise import advance
from iterlin._start import initial_state, lazy_problem
from iterlin._state import Stop
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.nets.shared.build import build_with_state
from iterlin_lab.settings.shared import Shared

ENOUGH = 0.5  # seconds of steps that make a measurement
SOLVER = sgd(1e-9)


class Estimate(NamedTuple):
    """Seconds until programs are compiled, seconds a step at K = 1 and in a long phase, a record; number of parameters.

    `break_even` and `dual_step` are those of phases in their dual, in steps of a long phase (see `iterlin.dual_cost`).
    """

    compiling: float
    step: float
    lazy_step: float
    record: float
    num_params: int
    break_even: float
    dual_step: float


def estimate(scale: Shared, net: dict[str, Any]) -> Estimate:
    """Measure with a fresh network of these settings on data that are all zero."""
    data, key = DATA_SETS[scale.data.name], jax.random.key(0)
    shape = {"input_shape": data.image_shape, "num_classes": data.num_classes}
    model, begun = build_with_state(**net, **shape, key=jax.random.key(1))
    sizes = _measured_sizes(scale)
    splits = {name: (jnp.zeros((n, *data.image_shape)), jnp.zeros(n, jnp.int32)) for name, n in sizes.items()}
    batch_size = scale.training.batch_size
    settings = {"loss": cross_entropy, "batch_size": batch_size, "key": key, "state": begun}
    problem, params = lazy_problem(model, splits["train"], **settings)
    state = initial_state(problem, params, SOLVER, Never(), begun)
    linearised = Linearised(problem.fn.recorded(splits["train"][0], begun), state.params0)
    start = _clocks()
    train = _compiled(advance, problem, SOLVER, Never(), state, Stop(1, 1, 1))
    damping = problem.damping_at(state, Never())
    looked_at = linearised, problem.loss, state.params, state.params0, splits, damping, "train"
    record = _compiled(measured, *looked_at)
    compiling = _seconds_since(start)

    def steps(schedule: Every, num_steps: int) -> float:
        return _seconds(train, problem, SOLVER, schedule, state, Stop(num_steps, num_steps, num_steps))

    more = sum(scale.data.sizes.values()) / sum(sizes.values())
    return Estimate(
        compiling=compiling,
        step=_seconds_a_step(partial(steps, Every(1))),
        lazy_step=_seconds_a_step(partial(steps, Never())),
        record=more * _seconds(record, *looked_at),
        num_params=optax.tree.size(state.params),
        **_in_dual(model, splits["train"][0], batch_size),
    )


def _in_dual(model: Any, x: jax.Array, batch_size: int | None) -> dict[str, float]:
    if isinstance(model, BatchModel):
        return {"break_even": math.inf, "dual_step": math.inf}
    cost = dual_cost(model, x, batch_size=batch_size)
    fits = cost.num_bytes <= Dual.max_bytes
    return {
        "break_even": cost.break_even if fits else math.inf,
        "dual_step": cost.dual_evaluation / cost.evaluation,
    }


def _measured_sizes(scale: Shared) -> dict[str, int]:
    """Full batches whole; of other data, which are taken in batches or chunks, no more than one of these."""
    batch = scale.training.batch_size
    sizes = {name: min(size, max(CHUNK, batch or 0)) for name, size in scale.data.sizes.items()}
    return sizes if batch else sizes | {"train": scale.data.num_train}


def _compiled(program, *arguments):
    return program.lower(*arguments).compile()


def _seconds_a_step(seconds: Callable[[int], float]) -> float:
    num_steps = 1
    while (taken := seconds(num_steps)) < ENOUGH:
        num_steps *= 4
    return taken / num_steps


def _seconds(compute: Callable, *arguments) -> float:
    start = _clocks()
    jax.block_until_ready(compute(*arguments))
    return _seconds_since(start)


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _seconds_since(start: tuple[float, float]) -> float:
    """On a processor its own seconds, if they are fewer: what else the machine does meanwhile does not count."""
    taken, own = (now - then for now, then in zip(_clocks(), start, strict=True))
    return min(taken, own) if jax.default_backend() == "cpu" else taken
