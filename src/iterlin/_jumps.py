"""Lazy phases in closed form: what `phases.advance` does step by step, in jumps. It runs on the host."""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax

from iterlin._blocks import in_chunks
from iterlin._kernels import empirical_ntk
from iterlin._linearise import Linearised
from iterlin._phases import State, Stop, relinearised
from iterlin._problem import Problem
from iterlin._schedules import Every
from iterlin._solvers.closed_form import ClosedForm, Eigenbasis, eigenbasis, objective


def advance_in_jumps(problem: Problem, solver: ClosedForm, schedule: Every, state: State, stop: Stop) -> State:
    """The next jump towards a record, or to divergence: the same states as from explicit steps."""
    if stop.reached(state):
        return state
    if state.due:
        state = relinearised(state, solver, schedule)
    if not state.solver_state.known:
        state = dataclasses.replace(state, solver_state=_eigenbasis(problem, solver, state.params0))
    return _jump(problem, solver, schedule, state, stop)


def _eigenbasis(problem: Problem, solver: ClosedForm, params0) -> Eigenbasis:
    residual = np.subtract(_outputs(problem.fn, params0, problem.x), problem.y).ravel()
    gram = empirical_ntk(problem.fn, params0, problem.x, max_bytes=solver.max_bytes)
    return eigenbasis(gram.reshape(residual.size, -1), residual, len(problem.x), float(problem.damping))


def _jump(problem: Problem, solver: ClosedForm, schedule: Every, state: State, stop: Stop) -> State:
    """To the record, to the end of the phase or to divergence, whichever comes first."""
    basis: Eigenbasis = state.solver_state
    start, period, max_loss = int(state.phase_step), int(schedule.period), float(problem.max_loss)
    record = stop.until if state.last_phase >= stop.gap else jnp.maximum(stop.until, stop.latest)
    end = min(period, start + int(record - state.step))

    def bounded(steps):
        value, norm = objective(basis, solver.dual(basis, steps))
        return bool(np.isfinite(norm) and value <= max_loss)

    reached = _first_failure(bounded, start, end)
    if reached > start:
        state = _at(problem, solver, state, reached)
    due = jnp.asarray(reached == period)
    return dataclasses.replace(
        state,
        due=due,
        last_phase=jnp.where(due, state.phase_step, state.last_phase),
        diverged=jnp.asarray(reached < end),
    )


def _first_failure(holds: Callable[[int], bool], start: int, end: int) -> int:
    """The first number in [start, end) at which `holds` is false, or `end`.

    By bisection: the objective is a sum of exponentials in t, so it is convex and bounded on an interval.
    """
    if not holds(start):
        return start
    if holds(end - 1):
        return end
    low, high = start, end - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _at(problem: Problem, solver: ClosedForm, state: State, steps: int) -> State:
    """The state after this number of steps of the phase."""
    basis: Eigenbasis = state.solver_state
    dual = solver.dual(basis, steps)
    cotangent = (basis.vectors @ dual).reshape(problem.y.shape).astype(problem.y.dtype)
    params, change = _moved(problem.fn, state.params0, problem.x, cotangent)
    predicted = basis.vectors @ (basis.eigenvalues * dual)
    error = np.linalg.norm(np.ravel(change) - predicted) / max(np.linalg.norm(basis.residual), np.finfo(float).tiny)
    _, initial_norm = objective(basis, np.zeros_like(dual))
    return dataclasses.replace(
        state,
        params=params,
        solver_state=basis._replace(error_estimate=float(error)),
        step=state.step + (steps - state.phase_step),
        evaluations=state.evaluations + 1,  # a product with φᵀ and one with φ
        phase_step=jnp.asarray(steps, state.phase_step.dtype),
        initial_norm=jnp.asarray(initial_norm, state.initial_norm.dtype),
    )


@eqx.filter_jit
def _outputs(fn, params, x):
    return in_chunks(lambda x: fn(params, x), x)


@eqx.filter_jit
def _moved(fn, params0, x, cotangent):
    """θ_s + φᵀu and φφᵀu."""
    linearised = Linearised(fn, params0)
    change = linearised.vjp(cotangent, x)
    return optax.tree.add(params0, change), linearised.jvp(change, x)
