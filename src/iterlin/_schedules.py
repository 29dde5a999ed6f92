"""When to re-linearise. The training loop does not know which schedule it has."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._linearise import Linearised, Network


def forever() -> int:
    """The largest number of steps that can be counted: 2³¹ − 1, or 2⁶³ − 1 where jax has 64 bits."""
    return jnp.iinfo(jnp.result_type(int)).max


def bound_of_count() -> str:
    """`forever()`, and how to count further where that is possible."""
    return f"{forever()}" if jax.config.read("jax_enable_x64") else f"{forever()} (jax_enable_x64 counts further)"


class Step(NamedTuple):
    """What a schedule sees of a run at θ_t, before the step from there.

    `value` and `gradient_norm` belong to the lazy problem of that step, `initial_norm` is the gradient's norm at the
    start of the phase. `linearisation_error` is ‖f − f_lin‖ / ‖f − f_s‖ over the outputs of the step's examples, 0 at
    the start of a phase, and NaN for a schedule that does not ask for it.
    """

    step: Int[Array, ""]  # t
    phase_step: Int[Array, ""]  # t − s
    value: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    initial_norm: Float[Array, ""]
    linearisation_error: Float[Array, ""]


class Schedule(eqx.Module):
    """Ends the lazy phases: after a number of steps (`remaining`), or for what it sees (`update`), or both.

    A subclass overrides one of the two, and `init` if it remembers something. All of it is compiled. A subclass that
    sets `asks_for_error` is shown the linearisation error, which costs a forward pass of the network every step.
    """

    asks_for_error: ClassVar[bool] = False

    def init(self) -> PyTree[Array]:
        """What is remembered before the first step."""
        return None

    def remaining(self, phase_step: Int[Array, ""]) -> Int[Array, ""]:
        """How many more steps a phase lasts that has taken `phase_step`: none or fewer once it is over."""
        return forever() - phase_step

    def update(self, state: PyTree[Array], seen: Step) -> tuple[Bool[Array, ""], PyTree[Array]]:
        """Whether the phase ends at θ_t, before a further step, and what is remembered from now on.

        It is asked before every step, also the first of a phase, which takes place whatever the answer is.
        """
        return jnp.asarray(False), state

    def model(self, fn: Callable, params0: PyTree[Array]) -> Linearised | Network:
        """What a phase trains."""
        return Linearised(fn, params0)

    def updates(self, phase_step: Int[Array, ""]) -> Int[Array, ""]:
        """How many feature updates the end of a phase of this many steps stands for."""
        return jnp.ones_like(phase_step)


def _whole(period: int | float | Int[Array, ""]) -> Int[Array, ""]:
    if isinstance(period, int | float) and not (period % 1 == 0 and abs(period) <= forever()):
        raise ValueError(
            f"the period K must be a whole number of at most {bound_of_count()}, or use Never(); got {period}"
        )
    return jnp.asarray(period, int)


class Every(Schedule):
    """Re-linearise every K steps (T Algorithm 3): K = 1 is gradient descent, K = ∞ lazy training.

    K is data: one compiled program serves every K but 1, where first-order solvers have a cheaper one.
    """

    period: Int[Array, ""] = eqx.field(converter=_whole)

    def __check_init__(self):
        if not isinstance(self.period, Tracer) and self.period < 1:
            raise ValueError(f"the period K must be at least 1, got {self.period}")

    def remaining(self, phase_step):
        return self.period - phase_step


def Never() -> Every:
    """K = ∞: train on the fixed empirical NTK of the initialisation."""
    return Every(forever())


class OnNetwork(Schedule):
    """K = 1 as `Every(1)` is where the solver allows it: every step is on the network itself.

    The network has the same gradient as its expansion at θ_s, and costs less. For a solver that takes many steps at
    once, as `Flow`, it is the network's own flow.
    """

    def remaining(self, phase_step):
        return jnp.where(phase_step == 0, forever(), 0)

    def model(self, fn, params0):
        return Network(fn)

    def updates(self, phase_step):
        return phase_step


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


def as_schedule(schedule: Any) -> Schedule:
    """A schedule, or the period K as a number: `100` is `Every(100)`, and `inf` is `Never()`.

    **Raises**: `ValueError` for anything else.
    """
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, int | float) and not isinstance(schedule, bool):
        return Never() if schedule == float("inf") else Every(schedule)
    raise ValueError(f"schedule must be a schedule such as Every(100), or the period K, got {schedule!r}")
