"""Iterative linearisation (T Algorithm 3): lazy phases between feature updates."""

import itertools
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin.core.batches import FullBatch, MiniBatch
from iterlin.core.linearise import Linearised
from iterlin.core.losses import Loss
from iterlin.core.records import Splits, log_spaced_steps, measure
from iterlin.core.schedules import FOREVER, Schedule
from iterlin.core.solvers import FirstOrder


class Outcome(Enum):
    """How a run ended; the value says what that means."""

    fitted = "the network fits the training set at a feature update"
    step_limit = "the step limit came before the network fitted the training set at a feature update: raise num_steps"
    diverged = (
        "the loss of the lazy problem left every bound: lower the learning rate (a phase is stable while "
        "ηλ_max < 2), or shorten the phases"
    )


class State(eqx.Module):
    """Everything that the next step depends on."""

    params: PyTree[Array]  # θ_t
    params0: PyTree[Array]  # θ_s
    solver_state: PyTree
    order: Array | None  # the epoch's permutation
    step: Int[Array, ""]  # t
    phase_step: Int[Array, ""]  # t − s
    last_phase: Int[Array, ""]  # length of the last phase that ended
    feature_updates: Int[Array, ""]
    initial_norm: Float[Array, ""]  # ‖g‖ at the start of the phase
    due: Bool[Array, ""]  # the phase is over: the next step re-linearises first
    diverged: Bool[Array, ""]


class Result(NamedTuple):
    """A trained model, its records (one dict a record), how the run ended, and its last state."""

    model: Any
    records: list[dict[str, float]]
    outcome: Outcome
    state: State


class Problem(eqx.Module):
    """Mean ℓ(f_lin(θ, x), y) + λ‖θ − θ_s‖² over the training data: convex in θ for a convex loss ℓ.

    λ belongs to the mean loss, without a ½. The papers' damped Gauss–Newton step (T eq. 10) minimises the sum
    ‖f_lin − Y‖² + λ_T‖θ − θ_s‖²; `squared_error` is half its mean, so λ = λ_T / (2n).
    """

    fn: Callable
    loss: Loss = eqx.field(static=True)
    batches: FullBatch | MiniBatch
    x: Array
    y: Array
    damping: Float[Array, ""]
    max_loss: Float[Array, ""]

    def phase(self, params0: PyTree[Array]) -> Callable:
        """The objective and its gradient in θ, for the batch of a step, expanded about θ_s = `params0`."""
        at = self.batches.phase(Linearised(self.fn, params0), self.x, self.y)

        def objective(params, step, order):
            predict, y, order = at(step, order)
            penalty = self.damping * optax.tree.norm(optax.tree.sub(params, params0), squared=True)
            return self.loss(predict(params), y) + penalty, order

        return jax.value_and_grad(objective, has_aux=True)


class Stop(eqx.Module):
    """Where the next record is wanted: at step `until`, `gap` steps after the last one.

    The ends of phases of `gap` steps or more are recorded too. Where phases are shorter, the record waits for the end
    of the phase, up to step `latest`.
    """

    until: Int[Array, ""] = eqx.field(converter=lambda step: jnp.asarray(step, jnp.int32))
    gap: Int[Array, ""] = eqx.field(converter=lambda step: jnp.asarray(step, jnp.int32))
    latest: Int[Array, ""] = eqx.field(converter=lambda step: jnp.asarray(step, jnp.int32))

    def beyond(self, state: State) -> Bool[Array, ""]:
        """Whether the record is still to come."""
        waiting = ~state.due & (state.last_phase < self.gap) & (state.step < self.latest)
        return (state.step < self.until) | waiting


@eqx.filter_jit
def advance(problem: Problem, solver: FirstOrder, schedule: Schedule, state: State, stop: Stop) -> State:
    """Train until the next record is wanted, or to divergence."""
    start = state.step

    def running(state):
        long_phase_over = state.due & (state.last_phase >= stop.gap) & (state.step > start)
        return stop.beyond(state) & ~state.diverged & ~long_phase_over

    def phase(state):
        state = _select(state.due, _relinearised(state, solver), state)
        value_and_gradient = problem.phase(state.params0)

        def in_phase(state):
            return stop.beyond(state) & ~state.due & ~state.diverged

        return jax.lax.while_loop(in_phase, partial(_step, problem, solver, schedule, value_and_gradient), state)

    return jax.lax.while_loop(running, phase, state)


def _relinearised(state: State, solver: FirstOrder) -> State:
    """The feature update: θ_s ← θ_t."""
    return eqx.tree_at(
        lambda s: (s.params0, s.solver_state, s.phase_step, s.feature_updates, s.due),
        state,
        (
            state.params,
            solver.relinearise(state.params, state.solver_state),
            jnp.zeros_like(state.phase_step),
            state.feature_updates + 1,
            jnp.asarray(False),
        ),
    )


def _step(problem, solver, schedule, value_and_gradient, state: State) -> State:
    """θ_{t+1} from the gradient of the lazy problem, or the end of the phase if it is solved as it stands."""
    (value, order), gradient = value_and_gradient(state.params, state.step, state.order)
    norm = optax.tree.norm(gradient)
    initial_norm = jnp.where(state.phase_step == 0, norm, state.initial_norm)
    diverged = ~(jnp.isfinite(norm) & (value <= problem.max_loss))
    solved = (state.phase_step > 0) & schedule.solved(norm, initial_norm) & ~diverged

    params, solver_state = solver.step(gradient, state.params, state.solver_state)
    phase_step = state.phase_step + 1
    due = schedule.elapsed(phase_step)
    stepped = State(
        params=params,
        params0=state.params0,
        solver_state=solver_state,
        order=order,
        step=state.step + 1,
        phase_step=phase_step,
        last_phase=jnp.where(due, phase_step, state.last_phase),
        feature_updates=state.feature_updates,
        initial_norm=initial_norm,
        due=due,
        diverged=diverged,
    )
    ended = eqx.tree_at(
        lambda s: (s.due, s.diverged, s.last_phase),
        state,
        (solved, diverged, jnp.where(solved, state.phase_step, state.last_phase)),
    )
    return _select(solved | diverged, ended, stepped)


def _select(condition, a, b):
    return jax.tree.map(partial(jnp.where, condition), a, b)


def train(
    model: Any,
    splits: Splits,
    *,
    loss: Loss,
    solver: FirstOrder,
    schedule: Schedule,
    num_steps: int,
    batch_size: int | None = None,
    damping: float = 0.0,
    fit_loss: float | None = None,
    divergence_factor: float = 1e4,
    records_per_decade: int = 10,
    key: Array | None = None,
) -> Result:
    """Train `model` by iterative linearisation.

    **Arguments**:

    - `model`: any equinox module that maps one example to its outputs.
    - `splits`: arrays (x, y) by name. The first is trained on, all of them are measured.
    - `loss`: a mean over examples, such as `cross_entropy`.
    - `solver`, `schedule`: how a lazy phase is solved, and when it ends. `sgd(η)` and `Every(K)` are the papers'.
    - `num_steps`: the step limit T.
    - `batch_size`: full batches if None; mini-batches need a `key`.
    - `damping`: λ of the lazy problem (see `Problem`).
    - `fit_loss`: stop once the network classifies the whole training set correctly with at most this loss, at a record
      at the end of a phase.
    - `divergence_factor`: a loss above this multiple of the initial one ends the run as diverged.
    - `records_per_decade`: the density of the records, which also come at the ends of longer phases and at the end (see
      `Stop`).

    **Raises**: `ValueError` for an impossible argument, before anything is compiled. Divergence is not an error but an
    outcome.
    """
    if num_steps < 0:
        raise ValueError(f"num_steps must be at least 0, got {num_steps}")
    if damping < 0:
        raise ValueError(f"the damping λ must be at least 0, got {damping}")
    origin, fn = functional(model)
    x, y = next(iter(splits.values()))
    batches = _batches(batch_size, len(x), key)
    state = _initial_state(origin, solver, batches)
    records = [_record(fn, loss, origin, splits, state)]
    max_loss = divergence_factor * _fit(records[0], splits)[1]
    problem = Problem(fn, loss, batches, x, y, _scalar(damping, origin), _scalar(max_loss, origin))

    outcome = None
    steps = log_spaced_steps(num_steps, records_per_decade)
    for previous, until in itertools.pairwise(steps):
        gap = until - previous
        while outcome is None and state.step < until:
            state = advance(problem, solver, schedule, state, Stop(until, gap, min(until + gap, num_steps)))
            records.append(_record(fn, loss, origin, splits, state))
            outcome = _outcome(state, fit_loss, *_fit(records[-1], splits))
    return Result(eqx.combine(state.params, model), records, outcome or Outcome.step_limit, state)


def _outcome(state: State, fit_loss: float | None, accuracy: float, loss: float) -> Outcome | None:
    if state.diverged:
        return Outcome.diverged
    if state.due and fit_loss is not None and accuracy == 1 and loss <= fit_loss:
        return Outcome.fitted
    return None


class _Functional(eqx.Module):
    """A model with its parameters taken out. Models of one architecture are equal, so they share compiled programs."""

    rest: Any

    def __call__(self, params, x):
        return jax.vmap(eqx.combine(params, self.rest))(x)


def functional(model: Any) -> tuple[PyTree[Array], Callable[[PyTree[Array], Array], Array]]:
    """An equinox module as its parameters θ and the function f(θ, x) on a batch of inputs."""
    params, rest = eqx.partition(model, eqx.is_inexact_array)
    return params, _Functional(rest)


def _batches(batch_size: int | None, num_examples: int, key: Array | None) -> FullBatch | MiniBatch:
    if batch_size is None:
        return FullBatch()
    if key is None:
        raise ValueError("mini-batches are drawn at random: give a `key`")
    return MiniBatch(key, num_examples, batch_size)


def _initial_state(params, solver: FirstOrder, batches: FullBatch | MiniBatch) -> State:
    return State(
        params=params,
        params0=params,
        solver_state=solver.init(params),
        order=batches.init(),
        step=_int(0),
        phase_step=_int(0),
        last_phase=_int(FOREVER),
        feature_updates=_int(0),
        initial_norm=_scalar(0.0, params),
        due=jnp.asarray(False),
        diverged=jnp.asarray(False),
    )


_measure = eqx.filter_jit(measure)


def _record(fn, loss, origin, splits, state: State) -> dict[str, float]:
    measured = _measure(Linearised(fn, state.params0), loss, state.params, origin, splits, train=next(iter(splits)))
    counts = {name: getattr(state, name) for name in ("step", "feature_updates", "phase_step")}
    return {name: value.item() for name, value in jax.device_get({**counts, **measured}).items()}


def _fit(record: dict[str, float], splits: Splits) -> tuple[float, float]:
    """The network's accuracy and loss on the training split. Where there are no classes, only the loss counts."""
    train = next(iter(splits))
    return record.get(f"network_{train}_accuracy", 1.0), record[f"network_{train}_loss"]


def _int(value: int) -> Int[Array, ""]:
    return jnp.asarray(value, jnp.int32)


def _scalar(value: float, like: PyTree[Array]) -> Float[Array, ""]:
    return jnp.asarray(value, jnp.result_type(*jax.tree.leaves(like)))
