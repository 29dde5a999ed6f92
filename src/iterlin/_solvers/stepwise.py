"""Solvers whose steps are compiled: lazy phases, and the feature updates between them (T Algorithm 3)."""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._lazy import Lazy
from iterlin._problem import Problem
from iterlin._schedules import Schedule, Step
from iterlin._solvers.solver import Solver
from iterlin._state import State, Stop


class Taken(NamedTuple):
    """Where a solver has come to, after how many steps and evaluations of the gradient."""

    params: PyTree[Array]
    state: Any
    steps: Int[Array, ""]
    evaluations: Int[Array, ""]


class Stepwise(Solver):
    """A solver whose steps are compiled: it goes from one θ to the next, by one step or some at a time."""

    @abstractmethod
    def step(
        self, lazy: Lazy, gradient: PyTree[Array], params: PyTree[Array], state: Any, limit: Int[Array, ""]
    ) -> Taken:
        """From θ = `params`, where the gradient is known, at most `limit` steps further."""

    def in_any_basis(self) -> bool:
        """Whether its steps are the same in all orthonormal coordinates: it knows θ by sums and inner products alone.

        Then `Dual` may solve its phases. It asks for `in_new_basis` at the start of each of them.
        """
        return False

    def in_new_basis(self, params: PyTree[Array], state: Any) -> Any:
        """The state with which a phase starts whose coordinates are new: a phase of before has the vectors in `state`.

        Unless a solver keeps numbers, it starts anew.
        """
        return self.init(params)

    def advance(self, problem, schedule, state, stop):
        return advance(problem, self, schedule, state, stop)


@eqx.filter_jit
def advance(problem: Problem, solver: Stepwise, schedule: Schedule, state: State, stop: Stop) -> State:
    """The compiled loop: phases, in them steps, until the next record is wanted (see `Solver.advance`)."""
    start = state.evaluations

    def running(state):
        return (state.evaluations - start < stop.budget) & ~stop.reached(state)

    def phase(state):
        state = _select(state.due, solver.relinearised(state, schedule), state)
        state = _phase(problem, solver, schedule, state, stop, start)
        if not schedule.settles:
            return state
        return jax.lax.cond(state.due, partial(_settled, problem, solver, schedule), lambda state: state, state)

    return jax.lax.while_loop(running, phase, state)


@eqx.filter_jit
def advance_phase(problem: Problem, solver: Stepwise, schedule: Schedule, state: State, stop: Stop) -> State:
    """The compiled steps of one phase, to its end at most."""
    return _phase(problem, solver, schedule, state, stop, state.evaluations)


def _phase(
    problem: Problem, solver: Stepwise, schedule: Schedule, state: State, stop: Stop, start: Int[Array, ""]
) -> State:
    """The steps of a phase; `start` are the evaluations from which the budget counts."""
    lazy_at = problem.phase(state.params0, schedule)

    def in_phase(state):
        within_budget = state.evaluations - start < stop.budget
        return within_budget & stop.beyond(state) & ~state.due & ~state.diverged

    return jax.lax.while_loop(in_phase, partial(_step, lazy_at, problem.max_loss, solver, schedule, stop), state)


def _step(
    lazy_at: Callable, max_loss: Float[Array, ""], solver: Stepwise, schedule: Schedule, stop: Stop, state: State
) -> State:
    """The next θ from the gradient of the lazy problem, or the end of the phase at θ as it stands."""
    lazy, order = lazy_at(state)
    (value, model_state), gradient = jax.value_and_grad(lazy.value_and_state, has_aux=True)(state.params)
    norm = optax.tree.norm(gradient)
    initial_norm = jnp.where(state.phase_step == 0, norm, state.initial_norm)
    diverged = ~(jnp.isfinite(norm) & (value <= max_loss))
    seen = Step(state.step, state.phase_step, value, norm, initial_norm, _looked(schedule, lazy, state))
    over, schedule_state = schedule.update(state.schedule_state, seen)
    if schedule.settles:  # a phase that leaves every bound is over, and what remains of it is for the schedule to say
        over, diverged = over | diverged, diverged & (state.phase_step == 0)
    over = (state.phase_step > 0) & over & ~diverged

    remaining = partial(schedule.remaining, schedule_state)
    limit = jnp.minimum(remaining(state.phase_step), stop.remaining(state.step))
    taken = solver.step(lazy, gradient, state.params, state.solver_state, limit)
    phase_step = state.phase_step + taken.steps
    due = remaining(phase_step) <= 0
    stepped = dataclasses.replace(
        state,
        params=taken.params,
        solver_state=taken.state,
        model_state=model_state,
        order=order,
        step=state.step + taken.steps,
        phase_step=phase_step,
        last_phase=jnp.where(due, phase_step, state.last_phase),
        evaluations=state.evaluations + taken.evaluations,
        initial_norm=initial_norm,
        due=due,
    )
    last_phase = jnp.where(over, state.phase_step, state.last_phase)
    ended = dataclasses.replace(state, due=over, diverged=diverged, last_phase=last_phase)
    return dataclasses.replace(_select(over | diverged, ended, stepped), schedule_state=schedule_state)


def _looked(schedule: Schedule, lazy: Lazy, state: State) -> PyTree[Array]:
    """What the schedule sees of the network at θ_t, or NaN where it does not look."""
    if not schedule.looks:
        return jnp.full_like(state.initial_norm, jnp.nan)
    look = partial(schedule.look, lazy)
    unseen = jax.tree.map(lambda seen: jnp.full(seen.shape, jnp.nan, seen.dtype), jax.eval_shape(look, state.params))
    due = schedule.when_to_look(state.schedule_state, state.phase_step)
    return jax.lax.cond(due, look, lambda params: unseen, state.params)


def _settled(problem: Problem, solver: Stepwise, schedule: Schedule, state: State) -> State:
    """A phase that is over ends at θ_s + a(θ_t − θ_s), with a from the schedule; with a = 0 it starts again."""
    lazy, _ = problem.phase(state.params0, schedule)(state)
    share, schedule_state = schedule.settle(state.schedule_state, lazy, state.params, state.phase_step)
    again = share == 0

    def part(theta, theta_s):
        between = theta_s + share.astype(theta.dtype) * (theta - theta_s)
        return jnp.where(again, theta_s, jnp.where(share == 1, theta, between))  # neither is a matter of rounding

    settled = dataclasses.replace(
        state,
        params=jax.tree.map(part, state.params, state.params0),
        schedule_state=schedule_state,
    )
    restarted = dataclasses.replace(
        settled,
        solver_state=solver.relinearise(state.params0, state.solver_state),
        phase_step=jnp.zeros_like(state.phase_step),
        due=jnp.asarray(False),
    )
    return _select(again, restarted, settled)


def _select(condition: Bool[Array, ""], a: Any, b: Any) -> Any:
    return jax.tree.map(partial(jnp.where, condition), a, b)
