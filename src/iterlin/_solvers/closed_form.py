"""Gradient descent on the squared error of a lazy phase, in closed form: any number of steps at one price."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PyTree

from iterlin._coordinates import moved, outputs
from iterlin._devices import gathered
from iterlin._exact_kernel import exact_kernel
from iterlin._kernels import BUDGET
from iterlin._losses import is_squared_error
from iterlin._problem import Problem
from iterlin._schedules import Periodic, Schedule
from iterlin._solvers.eigenbasis import Eigenbasis, Vector, eigenbasis, objective
from iterlin._solvers.solver import Setup, Solver
from iterlin._state import State, Stop

SAFE = 100  # a direction moves if it is so many times as long as its rounding: its error is then a hundredth
BYTES_PER_ENTRY = 64  # of Θ: itself, V, the last phase's V, LAPACK's copy and workspace; 50 measured in float32


class ClosedForm(Solver):
    """t steps of gradient descent on ½ mean ‖f_lin(θ, x) − y‖² + λ‖θ − θ_s‖², in the eigenbasis of Θ = φφᵀ = VΛVᵀ.

    With r_0 = f_s(x) − y and the rates s = Λ/n + 2λ (T eq. 19 in discrete time, and damped):

        θ_t = θ_s + φᵀ V α_t,    α_t = −g_t Vᵀ r_0 / n,    g_t = (1 − (1 − ηs)ᵗ) / s,

    and g_t = (1 − e^{−ηst}) / s in continuous time: gradient flow for the time ηt. Discrete steps with ηs > 2 grow
    without bound and end as diverged, as explicit steps do; the flow is always stable. A run counts t as steps.

    **Arguments**: `learning_rate` is η. `max_bytes` bounds the memory for Θ and its eigendecomposition, about 64 m²
    bytes for m = n·out, and that for Θ and the Jacobian; a phase costs some 10 m³ operations besides Θ.

    **Raises**: `ValueError` for a learning rate that is not positive.
    """

    on_host: ClassVar[bool] = True

    learning_rate: float
    continuous: bool = eqx.field(static=True, default=False)
    max_bytes: int = eqx.field(static=True, default=BUDGET)

    def __check_init__(self):
        if not 0 < self.learning_rate < float("inf"):
            raise ValueError(f"the learning rate η must be positive and finite, got {self.learning_rate}")

    def check(self, setup: Setup) -> None:
        """Whether the closed form exists, and fits.

        **Raises**: `ValueError` if not.
        """
        if not is_squared_error(setup.loss):
            raise ValueError("the closed form exists for squared_error: use another solver for other losses")
        if not isinstance(setup.schedule, Periodic):
            raise ValueError(
                "the closed form jumps to the end of a phase, so it must be known: use Every, Never, Growing or Drawn"
            )
        setup.require_full_batches("the closed form")
        setup.require_32_bits("the closed form")
        setup.require_one_example("the closed form")
        needed = BYTES_PER_ENTRY * setup.num_outputs**2
        if needed > self.max_bytes:
            raise ValueError(
                f"the closed form for n·out = {setup.num_outputs} takes {needed:.2g} bytes, more than max_bytes = "
                f"{self.max_bytes:.2g}: raise max_bytes, or use the flow solver, which stores no kernel"
            )

    def init(self, params: PyTree[Array]) -> Eigenbasis:
        """No phase has its eigenbasis yet."""
        return Eigenbasis(np.zeros(0), np.zeros((0, 0)), np.zeros(0), num_examples=0, damping=0.0)

    def relinearise(self, params: PyTree[Array], state: Eigenbasis) -> Eigenbasis:
        """The next phase has a kernel of its own."""
        return self.init(params)

    def explicit_rate(self) -> float | None:
        """The flow is stable at any η."""
        return None if self.continuous else self.learning_rate

    def advance(self, problem, schedule, state, stop):
        """The next jump towards a record, or to divergence: the same states as from explicit steps."""
        if stop.reached(state):
            return state
        if state.due:
            state = self.relinearised(state, schedule)
        if not state.solver_state.known:
            state = dataclasses.replace(state, solver_state=_eigenbasis(problem, self, schedule, state))
        return _jump(problem, self, schedule, state, stop)

    def dual(self, basis: Eigenbasis, steps: int) -> Vector:
        """α_t. Directions with Λ = 0 do not move θ, so any gain would do: they take the gain of the smallest Λ > 0.

        Rounding has mixed them with directions of small Λ, and where their gains differ, θ_t loses digits.
        """
        known = basis.eigenvalues > 0
        if not known.any():
            return np.zeros_like(basis.residual)
        with np.errstate(over="ignore"):
            gain = self._share(basis.rates, steps) / np.where(known, basis.rates, 1)
            gain = np.where(known, gain, gain[known][0])
            return np.where(basis.residual != 0, -gain * basis.residual / basis.num_examples, 0)

    def undecided(self, basis: Eigenbasis, steps: int) -> Vector:
        """How far f_lin might move in the directions that are held still because rounding hides their eigenvalues.

        Each of these is at most `rounding`. The m − rank lowest eigenvalues are exactly zero, whatever was computed.
        """
        hidden = (basis.eigenvalues == 0) & (np.arange(basis.residual.size) >= basis.residual.size - basis.rank)
        largest = basis._replace(eigenvalues=np.full_like(basis.residual, basis.rounding))
        return np.where(hidden, basis.rounding * self.dual(largest, steps), 0)

    def _share(self, rates: Vector, steps: int) -> Vector:
        """s·g_t: how much of the way to the minimum is done."""
        z = self.learning_rate * rates
        if self.continuous:
            return -np.expm1(-z * steps)
        small = np.minimum(z, 0.5)  # where 1 − z would lose digits of z
        return np.where(z < 0.5, -np.expm1(steps * np.log1p(-small)), 1 - (1 - z) ** steps)

    def report(self, state: Eigenbasis) -> dict[str, float]:
        """How the last phase was solved; empty before its first step.

        - `error_estimate`: of f_lin(θ_t), relative to ‖r_0‖. It has two parts: ‖φφᵀVα_t − VΛα_t‖, where φ is the
          network's own, is what rounding in Θ and in its eigendecomposition makes of the directions that move;
          `undecided` bounds what the directions that are held still may lack.
        - `eta_lambda_max`: ηs for the largest rate s. Explicit steps are unstable above 2.
        """
        if not state.known:
            return {}
        return {
            "error_estimate": state.error_estimate,
            "eta_lambda_max": self.learning_rate * float(state.rates.max()),
        }


def _eigenbasis(problem: Problem, solver: ClosedForm, schedule: Schedule, state: State) -> Eigenbasis:
    params0 = state.params0
    residual = (gathered(outputs(problem.fn, params0, problem.x)) - gathered(problem.y)).ravel()
    theta = exact_kernel(problem.fn, params0, problem.x, solver.max_bytes, "the closed form")
    unit, num_params = float(np.finfo(residual.dtype).eps), optax.tree.size(params0)
    damping = float(problem.damping_at(state, schedule))
    return eigenbasis(theta, residual, len(problem.x), num_params, damping, (SAFE * unit) ** 2)


def _jump(problem: Problem, solver: ClosedForm, schedule: Schedule, state: State, stop: Stop) -> State:
    """To the record, to the end of the phase or to divergence, whichever comes first."""
    basis: Eigenbasis = state.solver_state
    start, max_loss = int(state.phase_step), float(problem.max_loss)
    period = start + int(schedule.remaining(state.schedule_state, state.phase_step))
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
    params, change = moved(problem.fn, state.params0, problem.x, cotangent)
    predicted = basis.vectors @ (basis.eigenvalues * dual)
    wrong = np.linalg.norm(gathered(change).ravel() - predicted), np.linalg.norm(solver.undecided(basis, steps))
    error = np.hypot(*wrong) / max(np.linalg.norm(basis.residual), np.finfo(float).tiny)
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
