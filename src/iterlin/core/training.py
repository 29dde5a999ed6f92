"""Iterative linearisation of a model: training, records, and how a run ends."""

import itertools
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from iterlin.core.batches import HOIST_BYTES, FullBatch, MiniBatch, in_chunks
from iterlin.core.jumps import advance_in_jumps
from iterlin.core.linearise import Linearised, functional, residual_bytes
from iterlin.core.losses import Loss
from iterlin.core.phases import Problem, State, Stop, advance, initial_state
from iterlin.core.records import Splits, log_spaced_steps, measure
from iterlin.core.schedules import Continuously, Every, Schedule
from iterlin.core.solvers import ClosedForm, Solver, Stepwise


class Outcome(Enum):
    """How a run ended; the value says what that means."""

    fitted = "the network fits the training set at a feature update"
    step_limit = "the step limit came before the network fitted the training set at a feature update: raise num_steps"
    diverged = (
        "the loss of the lazy problem left every bound: lower the learning rate (a phase is stable while "
        "ηλ_max < 2), or shorten the phases"
    )


class Result(NamedTuple):
    """A trained model, its records (one dict a record), how the run ended, its last state, the solver's own report."""

    model: Any
    records: list[dict[str, float]]
    outcome: Outcome
    state: State
    report: dict[str, float]


def train(
    model: Any,
    splits: Splits,
    *,
    loss: Loss,
    solver: Solver,
    schedule: Schedule,
    num_steps: int,
    batch_size: int | None = None,
    hoist: bool | None = None,
    damping: float = 0.0,
    fit_loss: float | None = None,
    divergence_factor: float = 1e4,
    first_record: int = 1,
    records_per_decade: int = 10,
    key: Array | None = None,
    on_record: Callable[[dict[str, float]], None] = lambda record: None,
) -> Result:
    """Train `model` by iterative linearisation.

    **Arguments**:

    - `model`: any equinox module that maps one example to its outputs.
    - `splits`: arrays (x, y) by name. The first is trained on, all of them are measured.
    - `loss`: a mean over examples, such as `cross_entropy`.
    - `solver`, `schedule`: how a lazy phase is solved, and when it ends. `sgd(η)` and `Every(K)` are the papers'.
      `Flow(η)` stands for many tiny full-batch steps, and `ClosedForm(η)` for those of a phase with squared error.
    - `num_steps`: the step limit T.
    - `batch_size`: full batches if None; mini-batches need a `key`.
    - `hoist`: whether a phase of full batches keeps what all its steps need (see `FullBatch`). If None, it does where
      that takes no more than `HOIST_BYTES`.
    - `damping`: λ of the lazy problem (see `Problem`).
    - `fit_loss`: stop once the network classifies the whole training set correctly with at most this loss, at a record
      at the end of a phase.
    - `divergence_factor`: a loss above this multiple of the initial one (or of that of outputs that are all zero, if it
      is larger) ends the run as diverged.
    - `first_record`: the step of the first record after that at step 0.
    - `records_per_decade`: the density of the records, which also come at the ends of longer phases and at the end (see
      `Stop`).
    - `on_record`: called with each record as soon as it is made.

    **Raises**: `ValueError` for an impossible argument, before anything is compiled. Divergence is not an error but an
    outcome.
    """
    if num_steps < 0:
        raise ValueError(f"num_steps must be at least 0, got {num_steps}")
    if damping and isinstance(schedule, Continuously):
        raise ValueError("damping does nothing at K = 1, where θ = θ_s: leave it out")
    solver.check(loss, schedule, batch_size, next(iter(splits.values()))[1].size)
    problem, state = begin(
        model,
        next(iter(splits.values())),
        loss=loss,
        solver=solver,
        batch_size=batch_size,
        hoist=hoist,
        damping=damping,
        divergence_factor=divergence_factor,
        key=key,
    )
    origin, records, outcome = state.params, [], None

    def record():
        records.append(_record(problem, origin, splits, state))
        on_record(records[-1])

    record()
    steps = log_spaced_steps(num_steps, records_per_decade, first_record)
    for previous, until in itertools.pairwise(steps):
        gap = until - previous
        while outcome is None and state.step < until:
            state = _advance(problem, solver, schedule, state, Stop(until, gap, min(until + gap, num_steps)))
            record()
            outcome = _outcome(state, fit_loss, *_fit(records[-1], splits))
    report = {name: float(value) for name, value in solver.report(state.solver_state).items()}
    return Result(eqx.combine(state.params, model), records, outcome or Outcome.step_limit, state, report)


def begin(
    model: Any,
    data: tuple[Array, Array],
    *,
    loss: Loss,
    solver: Solver,
    batch_size: int | None = None,
    hoist: bool | None = None,
    damping: float = 0.0,
    divergence_factor: float = 1e4,
    key: Array | None = None,
) -> tuple[Problem, State]:
    """The lazy problem on the training data (x, y), and the state before the first step (see `train`)."""
    if damping < 0:
        raise ValueError(f"the damping λ must be at least 0, got {damping}")
    params, fn = functional(model)
    x, y = data
    if hoist is None:
        hoist = residual_bytes(lambda params: fn(params, x), params) <= HOIST_BYTES
    batches = FullBatch(hoist) if batch_size is None else _mini_batches(batch_size, len(x), key)
    dtype = jnp.result_type(*jax.tree.leaves(params))
    max_loss = divergence_factor * _reference_loss(fn, loss, params, x, y)
    problem = Problem(fn, loss, batches, x, y, jnp.asarray(damping, dtype), max_loss.astype(dtype))
    return problem, initial_state(params, solver, batches)


def _advance(problem: Problem, solver: Solver, schedule: Schedule, state: State, stop: Stop) -> State:
    if isinstance(solver, ClosedForm):
        assert isinstance(schedule, Every)  # as `check` has seen
        return advance_in_jumps(problem, solver, schedule, state, stop)
    assert isinstance(solver, Stepwise)
    return advance(problem, solver, schedule, state, stop)


def _outcome(state: State, fit_loss: float | None, accuracy: float, loss: float) -> Outcome | None:
    if state.diverged:
        return Outcome.diverged
    if state.due and fit_loss is not None and accuracy == 1 and loss <= fit_loss:
        return Outcome.fitted
    return None


def _mini_batches(batch_size: int, num_examples: int, key: Array | None) -> MiniBatch:
    if key is None:
        raise ValueError("mini-batches are drawn at random: give a `key`")
    return MiniBatch(key, num_examples, batch_size)


@eqx.filter_jit
def _reference_loss(fn, loss: Loss, params: PyTree[Array], x: Array, y: Array) -> Float[Array, ""]:
    outputs = in_chunks(lambda x: fn(params, x), x)
    return jnp.maximum(loss(outputs, y), loss(jnp.zeros_like(outputs), y))


_measure = eqx.filter_jit(measure)


def _record(problem: Problem, origin, splits, state: State) -> dict[str, float]:
    linearised = Linearised(problem.fn, state.params0)
    measured = _measure(linearised, problem.loss, state.params, origin, splits, train=next(iter(splits)))
    counts = {name: getattr(state, name) for name in ("step", "feature_updates", "phase_step", "evaluations")}
    return {name: value.item() for name, value in jax.device_get({**counts, **measured}).items()}


def _fit(record: dict[str, float], splits: Splits) -> tuple[float, float]:
    """The network's accuracy and loss on the training split. Where there are no classes, only the loss counts."""
    train = next(iter(splits))
    return record.get(f"network_{train}_accuracy", 1.0), record[f"network_{train}_loss"]
