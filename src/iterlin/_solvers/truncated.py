"""Truncated Gauss–Newton: lazy problems by conjugate gradients, matrix-free, to a tolerance (T Algorithm 2, B-TGN)."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PyTree

from iterlin._lazy import Lazy
from iterlin._losses import is_squared_error
from iterlin._solvers.conjugate_gradients import conjugate_gradients
from iterlin._solvers.stepwise import Stepwise, Taken

Params = PyTree[Array]
Scalar = Float[Array, ""]
Count = Int[Array, ""]

SUFFICIENT = 1e-4  # decrease of the objective, as a part of what its slope promises (Armijo)
MAX_HALVINGS = 20
GROWTH = 4  # of the radius, over a step that was taken whole
LOOSEST = 0.5  # tolerance of a Newton system


class TruncatedState(NamedTuple):
    """What is carried from step to step."""

    initial_norm: Scalar  # ‖g‖ at the start of the phase; 0 before it
    radius: Scalar  # of the ball in which a step is sought
    iterations: Count  # of conjugate gradients, in all
    longest: Count  # the most of one step


class Truncated(Stepwise):
    """A step of Newton's method on the lazy problem, by conjugate gradients (CG) on its Gauss–Newton matrix.

    For squared error a step solves (φᵀφ/n + 2λI)s = −g to ‖r_t‖ ≤ β‖g‖, the certificate of truncated Gauss–Newton,
    from s = 0, so that without damping it tends to the step of least norm. For another convex loss a step solves the
    Newton system to the tolerance min(½, √(‖g‖/‖g₀‖)) and halves it until the objective falls; with the schedule
    `OnConvergence(β)` a phase takes as many steps as it needs for ‖g‖ ≤ β‖g₀‖. Where the softmax saturates, its
    curvature vanishes but its gradient does not, and the system has no useful solution. So CG ends at the border of a
    ball (Steihaug 1983), of radius ‖θ_0‖ at first: a step that had to be halved sets it, one taken whole lets it grow.

    **Arguments**: `tolerance` is β. `max_iterations` bounds the iterations of one step. Its report: `cg_iterations` of
    all steps together, and `longest_step`, the iterations of the longest one. Each costs about as much as a gradient.

    **Raises**: `ValueError` for β outside (0, 1).
    """

    tolerance: Scalar = eqx.field(converter=lambda value: jnp.asarray(value, float))
    max_iterations: int = eqx.field(static=True, default=1000)

    def __check_init__(self):
        if not isinstance(self.tolerance, Tracer) and not 0 < self.tolerance < 1:
            raise ValueError(f"the tolerance β must lie between 0 and 1, got {self.tolerance}")
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {self.max_iterations}")

    def check(self, setup):
        setup.require_full_batches("truncated Gauss–Newton")
        setup.require_linear("truncated Gauss–Newton")
        setup.require_32_bits("truncated Gauss–Newton")
        setup.require_no_draws("truncated Gauss–Newton")

    def init(self, params):
        zero, length = jnp.zeros((), int), jnp.asarray(optax.tree.norm(params))
        return TruncatedState(jnp.zeros_like(length), jnp.where(length > 0, length, 1), zero, zero)

    def relinearise(self, params, state):
        return state._replace(initial_norm=jnp.zeros_like(state.initial_norm))

    def in_any_basis(self):
        return True

    def in_new_basis(self, params, state):
        return self.relinearise(params, state)

    def report(self, state):
        return {"cg_iterations": state.iterations, "longest_step": state.longest}

    def step(self, lazy, gradient, params, state, limit):
        norm = optax.tree.norm(gradient)
        initial_norm = jnp.where(state.initial_norm == 0, norm, state.initial_norm)
        beta = self.tolerance.astype(norm.dtype)
        exact = is_squared_error(lazy.loss)  # one system is the whole problem
        forcing = jnp.minimum(LOOSEST, beta * initial_norm / norm if exact else jnp.sqrt(norm / initial_norm))
        downhill = optax.tree.scale(-1, gradient)
        bounds = forcing * norm, self.max_iterations
        if exact:
            change, iterations = conjugate_gradients(lazy.curvature(params), downhill, *bounds)
            params, halvings, radius = optax.tree.add(params, change), 0, state.radius
        else:
            change, iterations = conjugate_gradients(lazy.curvature(params), downhill, *bounds, state.radius)
            params, halvings = _fallen(lazy, params, gradient, change)
            length = jnp.asarray(optax.tree.norm(change)) * 0.5 ** jnp.asarray(halvings, norm.dtype)
            radius = jnp.where(halvings > 0, length, jnp.maximum(state.radius, GROWTH * length))
        longest = jnp.maximum(state.longest, iterations)
        state = TruncatedState(initial_norm, radius, state.iterations + iterations, longest)
        return Taken(params, state, steps=jnp.ones_like(limit), evaluations=1 + iterations + halvings)


def _fallen(lazy: Lazy, params: Params, gradient: Params, change: Params) -> tuple[Params, Count]:
    """As much of the change as lets the objective fall, up to rounding; and how often it was halved, at most."""
    value, slope = lazy.value(params), optax.tree.vdot(gradient, change)
    slack = 4 * jnp.finfo(value.dtype).eps * jnp.abs(value)

    def at(halvings):
        return optax.tree.add_scale(params, 0.5 ** halvings.astype(value.dtype), change)

    def too_far(halvings):
        bound = value + SUFFICIENT * 0.5 ** halvings.astype(value.dtype) * slope + slack
        return ~(lazy.value(at(halvings)) <= bound) & (halvings < MAX_HALVINGS)

    halvings = jax.lax.while_loop(too_far, lambda halvings: halvings + 1, jnp.zeros((), int))
    kept = halvings < MAX_HALVINGS
    return jax.tree.map(lambda new, old: jnp.where(kept, new, old), at(halvings), params), halvings
