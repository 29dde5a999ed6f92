"""Schedules with the last word on where a phase ends: none of them lets the training loss rise."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PyTree

from iterlin._lazy import Lazy
from iterlin._schedules.periods import require_at_least, whole
from iterlin._schedules.schedule import forever
from iterlin._schedules.wrapped import Wrapped

LEAST, MOST = 1e-6, 1e6  # of the factor on λ


class Cautious(Wrapped):
    """A schedule that compares the training loss of the network at both ends of a phase: two passes forward a phase."""

    @property
    def settles(self) -> bool:
        return True

    def check(self, setup):
        """**Raises**: `ValueError` for mini-batches."""
        super().check(setup)
        if setup.streamed or setup.batch_size is not None:
            raise ValueError(
                f"{type(self).__name__} compares losses of the whole training set: leave batch_size out, or use the "
                "schedule in it by itself"
            )


class GuardedState(NamedTuple):
    """What the guarded schedule remembers, the longest phase allowed now, and how many phases were rolled back."""

    own: PyTree[Array]
    limit: Int[Array, ""]
    rolled_back: Int[Array, ""]


class Guarded(Cautious):
    """A schedule under which no phase ends with a higher training loss than it started with.

    Where a phase would, the way from θ_s to its end is halved until the loss has not risen, at most `halvings` times.
    If it still has, the phase is rolled back: it starts again at θ_s. Either way the next phase has at most half as
    many steps, and each phase that is taken whole doubles that bound. A phase whose lazy problem diverges ends so too.

    Records say how many phases were rolled back, as `rolled_back`; these are no feature updates, but their steps count.
    """

    halvings: Int[Array, ""] = eqx.field(converter=lambda number: whole("halvings", number), default=0)

    def __check_init__(self):
        require_at_least("halvings", 0, self.halvings)

    def init(self):
        return GuardedState(self.schedule.init(), jnp.asarray(forever(), int), jnp.zeros((), int))

    def remaining(self, state, phase_step):
        return jnp.minimum(super().remaining(state, phase_step), state.limit - phase_step)

    def settle(self, state, lazy, params, phase_step):
        share = _share_without_rise(lazy, params, self.halvings)
        doubled = jnp.where(state.limit > forever() // 2, forever(), 2 * state.limit)
        limit = jnp.where(share < 1, jnp.maximum(phase_step // 2, 1), doubled)
        return share, GuardedState(state.own, limit, state.rolled_back + (share == 0).astype(int))

    def report(self, state):
        return {"rolled_back": state.rolled_back} | self.schedule.report(state.own)


def _share_without_rise(lazy: Lazy, params: PyTree[Array], halvings: Int[Array, ""]) -> Float[Array, ""]:
    """1, ½, ¼ … of the way from θ_s: the first where the network's loss has not risen, or 0."""
    start, change = lazy.network_loss(lazy.params0), optax.tree.sub(params, lazy.params0)

    def share(halved):
        return 0.5 ** halved.astype(start.dtype)

    def risen(halved):
        # What is not finite counts as risen.
        return ~(lazy.network_loss(optax.tree.add_scale(lazy.params0, share(halved), change)) <= start)

    halved = jax.lax.while_loop(
        lambda halved: (halved <= halvings) & risen(halved), lambda halved: halved + 1, jnp.zeros((), int)
    )
    return jnp.where(halved <= halvings, share(halved), 0)


class DampedState(NamedTuple):
    """What the schedule in it remembers, the factor on λ, and how many phases were rolled back."""

    own: PyTree[Array]
    factor: Float[Array, ""]
    rolled_back: Int[Array, ""]


class LevenbergMarquardt(Cautious):
    """A schedule whose damping adapts: λ is multiplied by `change` where ρ < ¼, and divided by it where ρ > ¾.

    ρ is the decrease of the network's training loss over a phase, relative to that of f_lin (Marquardt 1963, with the
    bounds of Martens and Grosse 2015). A phase that ends with a higher loss is rolled back. λ of `train` is the first.
    Records have `rolled_back` and `damping_factor`, the present λ over the first.

    **Raises**: `ValueError` for a `change` of 1 or less, and for training without damping.
    """

    change: Float[Array, ""] = eqx.field(converter=lambda change: jnp.asarray(change, float), default=2.0)

    def __check_init__(self):
        if not isinstance(self.change, Tracer) and not self.change > 1:
            raise ValueError(f"change must be above 1, got {self.change}")

    def check(self, setup):
        super().check(setup)
        if not setup.damping > 0:
            raise ValueError("LevenbergMarquardt multiplies λ: give a damping above 0 to start with")

    def init(self):
        return DampedState(self.schedule.init(), jnp.ones(()), jnp.zeros((), int))

    def damping_factor(self, state):
        return state.factor

    def settle(self, state, lazy, params, phase_step):
        actual, predicted = lazy.decrease(params)
        # Written so that what is not finite raises λ.
        good, poor = actual > 0.75 * predicted, ~(actual >= 0.25 * predicted)
        change = self.change.astype(state.factor.dtype)
        factor = state.factor * jnp.where(poor, change, jnp.where(good, 1 / change, 1))
        refused = ~(actual >= 0)
        own = DampedState(state.own, jnp.clip(factor, LEAST, MOST), state.rolled_back + refused.astype(int))
        return jnp.where(refused, 0.0, 1.0), own

    def report(self, state):
        mine = {"rolled_back": state.rolled_back, "damping_factor": state.factor}
        return mine | self.schedule.report(state.own)
