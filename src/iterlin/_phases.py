"""Lazy phases and the feature updates between them: the compiled part of iterative linearisation (T Algorithm 3)."""

import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._batches import FullBatch, MiniBatch
from iterlin._problem import Problem
from iterlin._schedules import FOREVER, Schedule
from iterlin._solvers import Solver, Stepwise

Step = Int[Array, ""]


def _step_number(value: int | Step) -> Step:
    return jnp.asarray(value, jnp.int32)


class State(eqx.Module):
    """Everything that the next step depends on."""

    params: PyTree[Array]  # θ_t
    params0: PyTree[Array]  # θ_s
    solver_state: Any
    order: Array | None  # the epoch's permutation
    step: Step  # t
    recorded: Step  # the step of the last record; one less as long as a phase may yet turn out to end there
    phase_step: Step  # t − s
    last_phase: Step  # length of the last phase that ended
    feature_updates: Step
    evaluations: Step  # of the gradient
    initial_norm: Float[Array, ""]  # ‖g‖ at the start of the phase
    due: Bool[Array, ""]  # the phase is over: the next step re-linearises first
    diverged: Bool[Array, ""]

    def at_record(self) -> "State":
        """The same, once it has been recorded.

        Where a phase ends on convergence, that it does is known from the gradient of the next step alone. The record is
        looked at again then.
        """
        return eqx.tree_at(lambda state: state.recorded, self, self.step - (~self.due).astype(self.step.dtype))


@eqx.filter_jit
def initial_state(params: PyTree[Array], solver: Solver, batches: FullBatch | MiniBatch) -> State:
    """The state before the first step: θ_s = θ_0."""
    return State(
        params=params,
        params0=params,
        solver_state=solver.init(params),
        order=batches.init(),
        step=_step_number(0),
        recorded=_step_number(0),
        phase_step=_step_number(0),
        last_phase=_step_number(FOREVER),
        feature_updates=_step_number(0),
        evaluations=_step_number(0),
        initial_norm=jnp.zeros((), jnp.result_type(*jax.tree.leaves(params))),
        due=jnp.asarray(False),
        diverged=jnp.asarray(False),
    )


class Stop(eqx.Module):
    """Where the next record is wanted: at step `until`, `gap` steps after the last one.

    The ends of phases of `gap` steps or more are recorded too. Where phases are shorter, the record waits for the end
    of the phase, up to step `latest`. Training also pauses once it has taken `budget` evaluations of the gradient.
    """

    until: Step = eqx.field(converter=_step_number)
    gap: Step = eqx.field(converter=_step_number)
    latest: Step = eqx.field(converter=_step_number)
    budget: Step = eqx.field(converter=_step_number, default=FOREVER)

    def beyond(self, state: State) -> Bool[Array, "..."]:
        """Whether the record is still to come."""
        waiting = ~state.due & (state.last_phase < self.gap) & (state.step < self.latest)
        return (state.step < self.until) | waiting

    def reached(self, state: State) -> Bool[Array, "..."]:
        """Whether this is where the record is wanted, or the run has diverged."""
        long_phase_over = state.due & (state.last_phase >= self.gap) & (state.step > state.recorded)
        return ~self.beyond(state) | state.diverged | long_phase_over

    def remaining(self, step: Step) -> Step:
        """How many steps may be taken at once."""
        return jnp.where(step < self.until, self.until, self.latest) - step


@eqx.filter_jit
def advance(problem: Problem, solver: Stepwise, schedule: Schedule, state: State, stop: Stop) -> State:
    """Train until the next record is wanted, to divergence or to a pause, after which the same call goes on."""
    start = state.evaluations

    def within_budget(state):
        return state.evaluations - start < stop.budget

    def running(state):
        return within_budget(state) & ~stop.reached(state)

    def phase(state):
        state = _select(state.due, relinearised(state, solver, schedule), state)
        lazy_at = problem.phase(state.params0, schedule)

        def in_phase(state):
            return within_budget(state) & stop.beyond(state) & ~state.due & ~state.diverged

        return jax.lax.while_loop(in_phase, partial(_step, lazy_at, problem.max_loss, solver, schedule, stop), state)

    return jax.lax.while_loop(running, phase, state)


def relinearised(state: State, solver: Solver, schedule: Schedule) -> State:
    """The feature update: θ_s ← θ_t."""
    return dataclasses.replace(
        state,
        params0=state.params,
        solver_state=solver.relinearise(state.params, state.solver_state),
        phase_step=jnp.zeros_like(state.phase_step),
        feature_updates=state.feature_updates + schedule.updates(state.phase_step),
        due=jnp.asarray(False),
    )


def _step(lazy_at, max_loss, solver, schedule, stop, state: State) -> State:
    """The next θ from the gradient of the lazy problem, or the end of the phase if it is solved as it stands."""
    lazy, order = lazy_at(state.step, state.order)
    value, gradient = lazy.value_and_gradient(state.params)
    norm = optax.tree.norm(gradient)
    initial_norm = jnp.where(state.phase_step == 0, norm, state.initial_norm)
    diverged = ~(jnp.isfinite(norm) & (value <= max_loss))
    solved = (state.phase_step > 0) & schedule.solved(norm, initial_norm) & ~diverged

    limit = jnp.minimum(schedule.remaining(state.phase_step), stop.remaining(state.step))
    taken = solver.step(lazy, gradient, state.params, state.solver_state, limit)
    phase_step = state.phase_step + taken.steps
    due = schedule.remaining(phase_step) <= 0
    stepped = State(
        params=taken.params,
        params0=state.params0,
        solver_state=taken.state,
        order=order,
        step=state.step + taken.steps,
        recorded=state.recorded,
        phase_step=phase_step,
        last_phase=jnp.where(due, phase_step, state.last_phase),
        feature_updates=state.feature_updates,
        evaluations=state.evaluations + taken.evaluations,
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
