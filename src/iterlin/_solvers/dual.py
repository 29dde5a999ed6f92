"""Lazy phases in their dual: an evaluation is two products with a matrix, and no pass through the network."""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from iterlin._batches import FullBatch
from iterlin._coordinates import Coordinates, coordinates, moved, unknown_coordinates
from iterlin._devices import gathered
from iterlin._kernels import BUDGET
from iterlin._linearise import ByExample
from iterlin._problem import Problem
from iterlin._schedules import Schedule
from iterlin._solvers.solver import Solver
from iterlin._solvers.stepwise import Stepwise, advance_phase
from iterlin._state import State, Stop


class Affine(eqx.Module):
    """f_lin as a model of one example (f_s, A) ↦ f_s + Aa, with the coordinates a as its parameters."""

    a: Float[Array, " r"]

    def __call__(self, example: tuple[Float[Array, " *out"], Float[Array, "*out r"]]) -> Float[Array, " *out"]:
        outputs0, matrix = example
        return outputs0 + matrix @ self.a


class DualState(NamedTuple):
    """The phase's coordinates, where the run stands in them, the solver's own state there, and the largest error."""

    coordinates: Coordinates
    at: Affine
    own: Any
    error: float


class Dual(Solver):
    """A solver's lazy phases in orthonormal coordinates of the span of φ_sᵀ, in which alone a phase moves θ.

    With Θ = φ_sφ_sᵀ = AAᵀ, θ = θ_s + φ_sᵀL⁻ᵀa (see `Coordinates`) and

        f_lin = f_s + Aa,    ∇_a = Aᵀℓ'/n + 2λa,    ‖a‖ = ‖θ − θ_s‖.

    As the coordinates are orthonormal, a solver that knows θ by sums and inner products alone takes the same steps in
    them, up to rounding, and its norms, certificates and errors mean what they did. Each phase computes Θ once, at the
    cost of some 2·out gradients and (n·out)²p multiplications at most. After that an evaluation costs 2 (n·out)² of
    them, so phases with many evaluations gain. θ is computed at records and at feature updates.

    **Arguments**: `solver` is `sgd`, also with momentum, `Flow` or `Truncated`, or another `Stepwise` that says
    `in_any_basis`. `max_bytes` bounds the memory for the Jacobian of the training data and for Θ. Its report is that of
    the solver, and `dual_error`: the largest ‖φ_s(θ − θ_s) − Aa‖/‖Aa‖, where φ_s is the network's own.

    **Raises**: `ValueError` for a solver that looks at coordinates of θ, as Adam does.
    """

    on_host: ClassVar[bool] = True

    solver: Stepwise
    max_bytes: int = eqx.field(static=True, default=BUDGET)

    def __check_init__(self):
        if not (isinstance(self.solver, Stepwise) and self.solver.in_any_basis()):
            raise ValueError(
                f"the dual form has coordinates of its own, and {type(self.solver).__name__} depends on those of θ, or "
                "keeps momenta in them: use sgd, which resets its momenta, Flow or Truncated, or leave Dual out"
            )

    def check(self, setup):
        setup.require_32_bits("the dual form")
        setup.require_linear("the dual form")
        dtype = jnp.result_type(*jax.tree.leaves(setup.params))
        a = np.empty(min(setup.num_params, setup.num_outputs), dtype)  # of no more coordinates
        self.solver.check(setup._replace(params=a))
        setup.require_one_example("the dual form")
        if setup.augmented:
            raise ValueError("the dual form takes inputs that stay as they are: leave augment or Dual out")

    def init(self, params):
        theta, _ = ravel_pytree(params)
        return DualState(unknown_coordinates(theta.dtype), Affine(theta[:0]), self.solver.init(Affine(theta)), 0.0)

    def relinearise(self, params, state):
        """The next phase has coordinates of its own."""
        return state._replace(coordinates=unknown_coordinates(state.at.a.dtype))

    def report(self, state):
        return {name: float(value) for name, value in self.solver.report(state.own).items()} | {
            "dual_error": state.error
        }

    def explicit_rate(self):
        return self.solver.explicit_rate()

    def advance(self, problem: Problem, schedule: Schedule, state: State, stop: Stop) -> State:
        """To the record, to the end of the phase or to a pause, whichever comes first."""
        if stop.reached(state):
            return state
        if state.due:
            state = self.relinearised(state, schedule)
        if not state.solver_state.coordinates.known:
            state = dataclasses.replace(state, solver_state=self._begun(problem, state))
        dual: DualState = state.solver_state
        start = jax.tree.map(jnp.zeros_like, dual.at)
        inner = dataclasses.replace(state, params=dual.at, params0=start, solver_state=dual.own)
        reached = advance_phase(_in_dual(problem, dual), self.solver, schedule, inner, stop)
        params, error = _theta(problem, state.params0, dual.coordinates, reached.params)
        dual = DualState(dual.coordinates, reached.params, reached.solver_state, max(dual.error, error))
        return dataclasses.replace(reached, params=params, params0=state.params0, solver_state=dual)

    def _begun(self, problem: Problem, state: State) -> DualState:
        """The phase at θ_s, in its coordinates."""
        found = coordinates(problem.fn, state.params0, problem.x, self.max_bytes)
        start = Affine(jnp.zeros(found.matrix.shape[-1], found.matrix.dtype))
        before: DualState = state.solver_state
        return DualState(found, start, self.solver.in_new_basis(start, before.own), before.error)


def _in_dual(problem: Problem, dual: DualState) -> Problem:
    """The lazy problem with a for its parameters: the same on batches of rows of f_s and A."""
    fn = ByExample(eqx.filter(dual.at, eqx.is_array, inverse=True), block_bytes=None)
    # They lie where the examples do.
    where = jax.tree.leaves(problem.x)[0].sharding
    x = jax.device_put((dual.coordinates.outputs0, dual.coordinates.matrix), where)
    batches = FullBatch() if isinstance(problem.batches, FullBatch) else problem.batches
    return dataclasses.replace(problem, fn=fn, batches=batches, x=x)


def _theta(problem: Problem, params0: Any, found: Coordinates, at: Affine) -> tuple[Any, float]:
    """θ, and how far φ_s(θ − θ_s) is from Aa."""
    a = gathered(at.a)
    params, change = moved(problem.fn, params0, problem.x, found.cotangent(a))
    predicted = found.matrix @ a
    length = np.linalg.norm(predicted)
    return params, float(np.linalg.norm(gathered(change) - predicted) / length) if length > 0 else 0.0
