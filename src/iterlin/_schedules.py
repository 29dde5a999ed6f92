"""When to re-linearise. The training loop does not know which schedule it has."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._linearise import Linearised, Network

FOREVER = 2**31 - 1


def _whole(period: int | float | Int[Array, ""]) -> Int[Array, ""]:
    if isinstance(period, int | float) and not (period % 1 == 0 and abs(period) <= FOREVER):
        raise ValueError(f"the period K must be a whole number of at most {FOREVER}, or use Never(); got {period}")
    return jnp.asarray(period, jnp.int32)


class Schedule(eqx.Module):
    """Ends the lazy phases. A subclass overrides one of the first two questions, or both."""

    def remaining(self, phase_step: Int[Array, ""]) -> Int[Array, ""]:
        """How many more steps a phase lasts that has taken `phase_step`: none or fewer once it is over."""
        return FOREVER - phase_step

    def solved(self, gradient_norm: Float[Array, ""], initial_norm: Float[Array, ""]) -> Bool[Array, ""]:
        """Whether a phase ends at parameters whose lazy problem has this gradient norm, before a further step.

        `initial_norm` is that norm at the start of the phase.
        """
        return jnp.asarray(False)

    def model(self, fn: Callable, params0: PyTree[Array]) -> Linearised | Network:
        """What a phase trains."""
        return Linearised(fn, params0)

    def updates(self, phase_step: Int[Array, ""]) -> Int[Array, ""]:
        """How many feature updates the end of a phase of this many steps stands for."""
        return jnp.ones_like(phase_step)


class Every(Schedule):
    """Re-linearise every K steps (T Algorithm 3): K = 1 is gradient descent, K = ∞ lazy training.

    K is data: one compiled program serves every K.
    """

    period: Int[Array, ""] = eqx.field(converter=_whole)

    def __check_init__(self):
        if not isinstance(self.period, Tracer) and self.period < 1:
            raise ValueError(f"the period K must be at least 1, got {self.period}")

    def remaining(self, phase_step):
        return self.period - phase_step


def Never() -> Every:
    """K = ∞: train on the fixed empirical NTK of the initialisation."""
    return Every(FOREVER)


class Continuously(Schedule):
    """K = 1: every step is on the network itself, which has the same gradient as its expansion there and costs less.

    For a solver that takes many steps at once, as `Flow`, it is the network's own flow.
    """

    def remaining(self, phase_step):
        return jnp.where(phase_step == 0, FOREVER, 0)

    def model(self, fn, params0):
        return Network(fn)

    def updates(self, phase_step):
        return phase_step


class OnConvergence(Schedule):
    """Re-linearise once the lazy problem is solved: ‖g‖ ≤ τ‖g₀‖, the certificate of truncated Gauss–Newton.

    The norm is that of the gradient of the lazy problem, g₀ the one at the start of the phase (T Algorithm 2, with
    τ = β_t). Separable cross-entropy has no minimiser, so a tolerance is all that "solved" can mean there.
    """

    tolerance: Float[Array, ""] = eqx.field(converter=lambda tolerance: jnp.asarray(tolerance, float))

    def __check_init__(self):
        if not isinstance(self.tolerance, Tracer) and not 0 < self.tolerance < 1:
            raise ValueError(f"the tolerance τ must lie between 0 and 1, got {self.tolerance}")

    def solved(self, gradient_norm, initial_norm):
        return gradient_norm <= self.tolerance.astype(gradient_norm.dtype) * initial_norm
