"""Schedules whose phases have a length that is known when they start."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from iterlin._linearise import Network
from iterlin._schedules.schedule import Schedule, bound_of_count, forever


def whole(name: str, steps: Any, instead: str = "") -> Int[Array, ""]:
    """A number of steps. **Raises**: `ValueError` with this name, and what to use instead, if it cannot be counted."""
    if isinstance(steps, int | float) and not (steps % 1 == 0 and abs(steps) <= forever()):
        raise ValueError(f"{name} must be a whole number of at most {bound_of_count()}{instead}; got {steps}")
    return jnp.asarray(steps, int)


def require_at_least(name: str, least: int | Int[Array, ""], value: Any) -> None:
    """**Raises**: `ValueError` with this name if the value is known and smaller."""
    if not isinstance(value, Tracer) and not isinstance(least, Tracer) and not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


class Periodic(Schedule):
    """Ends a phase after a number of steps that is known when it starts, so that a solver may jump to its end."""


class Every(Periodic):
    """Re-linearise every K steps (T Algorithm 3): K = 1 is gradient descent, K = ∞ lazy training.

    K is data: one compiled program serves every K but 1, where first-order solvers have a cheaper one.
    """

    period: Int[Array, ""] = eqx.field(converter=lambda period: whole("the period K", period, ", or use Never()"))

    def __check_init__(self):
        require_at_least("the period K", 1, self.period)

    def remaining(self, state, phase_step):
        return self.period - phase_step


def Never() -> Every:
    """K = ∞: train on the fixed empirical NTK of the initialisation."""
    return Every(forever())


class OnNetwork(Schedule):
    """K = 1 as `Every(1)` is where the solver allows it: every step is on the network itself.

    The network has the same gradient as its expansion at θ_s, and costs less. For a solver that takes many steps at
    once, as `Flow`, it is the network's own flow.
    """

    def remaining(self, state, phase_step):
        return jnp.where(phase_step == 0, forever(), 0)

    def model(self, fn, params0):
        return Network(fn)

    def updates(self, phase_step):
        return phase_step


class Growing(Periodic):
    """Short phases first: phase i has K_i = min(⌊K_0 · factorⁱ⌋, most) steps.

    T (§6) expects that it matters most early in training how long the expansion is trusted.
    """

    first: Int[Array, ""] = eqx.field(converter=lambda steps: whole("first", steps))
    factor: Float[Array, ""] = eqx.field(converter=lambda factor: jnp.asarray(factor, float))
    most: Int[Array, ""] = eqx.field(converter=lambda steps: whole("most", steps))

    def __check_init__(self):
        require_at_least("first", 1, self.first)
        require_at_least("factor", 1, self.factor)
        require_at_least("most", 1, self.most)

    def init(self):
        return jnp.zeros((), int)

    def next_phase(self, state):
        return state + 1

    def remaining(self, state, phase_step):
        length = self.first.astype(float) * self.factor ** state.astype(float)
        # A float beyond what can be counted is no integer: the longest phase is chosen first.
        longest = length >= self.most.astype(float)
        return jnp.where(longest, self.most, jnp.where(longest, 1.0, length).astype(int)) - phase_step


class DrawnState(NamedTuple):
    """The key of the next draw, and K of this phase."""

    key: Array
    period: Int[Array, ""]


class Drawn(Periodic):
    """K of every phase is drawn at random, uniformly in log K from `least` to `most`: a baseline that sees nothing."""

    least: Int[Array, ""] = eqx.field(converter=lambda steps: whole("least", steps))
    most: Int[Array, ""] = eqx.field(converter=lambda steps: whole("most", steps))
    key: Array

    def __check_init__(self):
        require_at_least("least", 1, self.least)
        require_at_least("most", self.least, self.most)

    def init(self):
        return self.next_phase(DrawnState(self.key, self.least))

    def next_phase(self, state):
        key, draw = jax.random.split(state.key)
        least, most = (jnp.log(jnp.asarray(steps, float)) for steps in (self.least, self.most))
        period = jnp.round(jnp.exp(jax.random.uniform(draw, minval=least, maxval=most))).astype(int)
        return DrawnState(key, jnp.clip(period, self.least, self.most))  # which logarithms in float32 may miss

    def remaining(self, state, phase_step):
        return state.period - phase_step


def as_schedule(schedule: Any) -> Schedule:
    """A schedule, or the period K as a number: `100` is `Every(100)`, and `inf` is `Never()`.

    **Raises**: `ValueError` for anything else.
    """
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, int | float) and not isinstance(schedule, bool):
        return Never() if schedule == float("inf") else Every(schedule)
    raise ValueError(f"schedule must be a schedule such as Every(100), or the period K, got {schedule!r}")
