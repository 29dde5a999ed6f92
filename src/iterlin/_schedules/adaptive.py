"""Schedules that look at the network, and re-linearise when the expansion has become wrong."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PyTree

from iterlin._lazy import Lazy
from iterlin._schedules.periods import require_at_least, whole
from iterlin._schedules.schedule import Schedule, forever


class Adaptive(Schedule):
    """Ends a phase once `look`, a measure of how wrong the expansion has become, is above a bound.

    The measure is 0 where the expansion is exact, and so at the start of a phase.

    **Arguments**: `bound` is the largest measure with which a phase goes on. It looks after every `every` steps of the
    solver, so that a look that costs as much as a step takes 1/`every` of the time of a phase; a step of `Flow` is many
    evaluations. No phase has fewer than `at_least` steps, nor more than `at_most`. Runs that train at once compute what
    they would see in every step, since one program cannot leave it out for some of them.

    **Raises**: `ValueError` for a bound that is not positive, and for numbers of steps below 1.
    """

    bound: Float[Array, ""] = eqx.field(converter=lambda bound: jnp.asarray(bound, float))
    every: Int[Array, ""] = eqx.field(converter=lambda steps: whole("every", steps), default=20)
    at_least: Int[Array, ""] = eqx.field(converter=lambda steps: whole("at_least", steps), default=1)
    at_most: Int[Array, ""] = eqx.field(converter=lambda steps: whole("at_most", steps), default_factory=forever)

    def __check_init__(self):
        if not isinstance(self.bound, Tracer) and not self.bound > 0:
            raise ValueError(f"the bound must be positive, got {self.bound}")
        require_at_least("every", 1, self.every)
        require_at_least("at_least", 1, self.at_least)
        require_at_least("at_most", self.at_least, self.at_most)

    @property
    def looks(self) -> bool:
        return True

    @abstractmethod
    def look(self, lazy: Lazy, params: PyTree[Array]) -> Float[Array, ""]:
        """How wrong the expansion is at θ_t."""

    def init(self):
        """The steps of the solver since the last look."""
        return jnp.zeros((), int)

    def next_phase(self, state):
        return self.init()

    def remaining(self, state, phase_step):
        return self.at_most - phase_step

    def when_to_look(self, state, phase_step):
        return (state >= self.every) & (phase_step >= self.at_least)

    def update(self, state, seen):
        since = jnp.where(self.when_to_look(state, seen.phase_step), 1, state + 1)
        return seen.looked > self.bound.astype(seen.looked.dtype), since


class OnLinearisationError(Adaptive):
    """Re-linearise once ‖f − f_lin‖/‖f − f_s‖ > ε: the part of the outputs' change that the expansion has wrong.

    It looks at the examples of the step, or at inputs `x` of your own, such as those that are held out.
    """

    x: PyTree[Array] = None

    def look(self, lazy, params):
        return lazy.linearisation_error(params, self.x)


class TrustRegion(Adaptive):
    """Re-linearise once 1 − ρ > ε, where ρ is the decrease of the network's loss over that of f_lin since θ_s.

    With ε = ¾ a phase goes on while the network's loss has fallen by a quarter of what the expansion promises, the
    usual bound of trust-region methods (Nocedal and Wright 2006, ch. 4).
    """

    def look(self, lazy, params):
        actual, predicted = lazy.decrease(params)
        return jnp.where(predicted > 0, 1 - actual / jnp.where(predicted > 0, predicted, 1), 0)
