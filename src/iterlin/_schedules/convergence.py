"""Phases that end once their lazy problem is solved."""

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float

from iterlin._schedules.schedule import Schedule


class OnConvergence(Schedule):
    """Re-linearise once the lazy problem is solved: ‖g‖ ≤ τ‖g₀‖, the certificate of truncated Gauss–Newton.

    Here g is the gradient of the lazy problem, and g₀ its gradient at the start of the phase (T Algorithm 2, with
    τ = β_t). Separable cross-entropy has no minimiser, so a tolerance is all that "solved" can mean there.
    """

    tolerance: Float[Array, ""] = eqx.field(converter=lambda tolerance: jnp.asarray(tolerance, float))

    def __check_init__(self):
        if not isinstance(self.tolerance, Tracer) and not 0 < self.tolerance < 1:
            raise ValueError(f"the tolerance τ must lie between 0 and 1, got {self.tolerance}")

    def update(self, state, seen):
        return seen.gradient_norm <= self.tolerance.astype(seen.gradient_norm.dtype) * seen.initial_norm, state
