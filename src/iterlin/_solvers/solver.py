"""What the training loop asks of a solver."""

from abc import abstractmethod
from typing import Any, NamedTuple

import equinox as eqx
from jaxtyping import Array, Float, Int, PyTree

from iterlin._losses import Loss
from iterlin._problem import Lazy
from iterlin._schedules import Schedule


class Taken(NamedTuple):
    """Where a solver has come to, after how many steps and evaluations of the gradient."""

    params: PyTree[Array]
    state: Any
    steps: Int[Array, ""]
    evaluations: Int[Array, ""]


class Setup(NamedTuple):
    """What a run asks of its solver."""

    loss: Loss
    schedule: Schedule
    batch_size: int | None
    damping: float
    num_outputs: int  # n·out
    num_params: int  # p


class Solver(eqx.Module):
    """Solves the lazy problem of a phase."""

    @abstractmethod
    def init(self, params: PyTree[Array]) -> Any:
        """The state at the start of training."""

    @abstractmethod
    def relinearise(self, params: PyTree[Array], state: Any) -> Any:
        """The state with which the next phase starts."""

    def check(self, setup: Setup) -> None:
        """Whether it can train like this.

        **Raises**: `ValueError` if not.
        """

    def report(self, state: Any) -> dict[str, Any]:
        """What is worth knowing about how the problems were solved, as numbers by name."""
        return {}

    def explicit_rate(self) -> Float[Array, ""] | float | None:
        """η, if this is plain gradient descent, whose phases are stable for ηλ_max < 2."""
        return None


class Stepwise(Solver):
    """A solver whose steps are compiled: it goes from one θ to the next, by one step or some at a time."""

    @abstractmethod
    def step(
        self, lazy: Lazy, gradient: PyTree[Array], params: PyTree[Array], state: Any, limit: Int[Array, ""]
    ) -> Taken:
        """From θ = `params`, where the gradient is known, at most `limit` steps further."""
