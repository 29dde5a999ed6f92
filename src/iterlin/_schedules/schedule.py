"""What the training loop asks of a schedule. It does not know which one it has."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._expanded import Expanded
from iterlin._lazy import Lazy
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
    start of the phase. `looked` is what the schedule's own `look` found, or NaN where it did not look.
    """

    step: Int[Array, ""]  # t
    phase_step: Int[Array, ""]  # t − s
    value: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    initial_norm: Float[Array, ""]
    looked: PyTree[Array]


class Schedule(eqx.Module):
    """Ends the lazy phases: after a number of steps (`remaining`), or for what it sees (`update`), or both.

    A subclass overrides one of the two, and `init` if it remembers something. All of it is compiled.

    A subclass whose `looks` is true also sees the network: before the steps that `when_to_look` chooses, `look` may
    compute what it likes from the lazy problem, and `update` is shown the result. A subclass whose `settles` is true
    has the last word on where a phase ends (`settle`). Solvers that know the lazy problem alone take neither.
    """

    @property
    def order(self) -> int:
        """The degree in θ − θ_s of what a phase trains: with 1 the lazy problem of a convex loss is convex."""
        return 1

    @property
    def looks(self) -> bool:
        """Whether it looks at the network."""
        return False

    @property
    def settles(self) -> bool:
        """Whether it may end a phase elsewhere than at the last θ of it."""
        return False

    def check(self, setup: Any) -> None:
        """Whether a run can be trained like this; `setup` is what the solver is asked about too.

        **Raises**: `ValueError` if not.
        """

    def init(self) -> PyTree[Array]:
        """What is remembered before the first step, which starts the first phase."""
        return None

    def next_phase(self, state: PyTree[Array]) -> PyTree[Array]:
        """What is remembered once the next phase starts."""
        return state

    def remaining(self, state: PyTree[Array], phase_step: Int[Array, ""]) -> Int[Array, ""]:
        """How many more steps a phase lasts that has taken `phase_step`: none or fewer once it is over."""
        return forever() - phase_step

    def when_to_look(self, state: PyTree[Array], phase_step: Int[Array, ""]) -> Bool[Array, ""]:
        """Whether `look` is called before the step from θ_t."""
        return jnp.asarray(True)

    def look(self, lazy: Lazy, params: PyTree[Array]) -> PyTree[Array]:
        """What it wants to know of the network at θ_t."""
        return ()

    def update(self, state: PyTree[Array], seen: Step) -> tuple[Bool[Array, ""], PyTree[Array]]:
        """Whether the phase ends at θ_t, before a further step, and what is remembered from now on.

        It is asked before every step, also the first of a phase, which takes place whatever the answer is.
        """
        return jnp.asarray(False), state

    def settle(
        self, state: PyTree[Array], lazy: Lazy, params: PyTree[Array], phase_step: Int[Array, ""]
    ) -> tuple[Float[Array, ""], PyTree[Array]]:
        """How much of the way from θ_s to θ_t = `params` a phase that is over has gone, and what is remembered.

        With 1 the next phase starts at θ_t, with 0 the phase starts again at θ_s and counts as no feature update.
        """
        return jnp.ones(()), state

    def damping_factor(self, state: PyTree[Array]) -> Float[Array, "..."] | float:
        """What λ is multiplied by in this phase."""
        return 1.0

    def report(self, state: PyTree[Array]) -> dict[str, Array]:
        """What a record says of it: parts of its state by name, each one number."""
        return {}

    def expansion(self, fn: Callable, params0: PyTree[Array]) -> Linearised | Expanded:
        """The proxy of the network in a phase, which records measure."""
        return Linearised(fn, params0)

    def model(self, fn: Callable, params0: PyTree[Array]) -> Linearised | Expanded | Network:
        """What a phase trains."""
        return self.expansion(fn, params0)

    def updates(self, phase_step: Int[Array, ""]) -> Int[Array, ""]:
        """How many feature updates the end of a phase of this many steps stands for."""
        return jnp.ones_like(phase_step)
