"""What the training loop asks of a solver."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
from jaxtyping import Array, Float, Int, PyTree

Gradient = Callable[[PyTree[Array]], PyTree[Array]]


class Taken(NamedTuple):
    """Where a solver has come to, after how many steps and evaluations of the gradient."""

    params: PyTree[Array]
    state: Any
    steps: Int[Array, ""]
    evaluations: Int[Array, ""]


class Solver(eqx.Module):
    """Solves a lazy phase, some steps at a time."""

    full_batch: ClassVar[bool] = False  # whether it makes sense on full batches only

    @abstractmethod
    def init(self, params: PyTree[Array]) -> Any:
        """The state at the start of training."""

    @abstractmethod
    def relinearise(self, params: PyTree[Array], state: Any) -> Any:
        """The state with which the next phase starts."""

    @abstractmethod
    def step(
        self, gradient_at: Gradient, gradient: PyTree[Array], params: PyTree[Array], state: Any, limit: Int[Array, ""]
    ) -> Taken:
        """From θ = `params`, where the gradient is known, at most `limit` steps further."""

    def report(self, state: Any) -> dict[str, Float[Array, ""]]:
        """What is worth knowing of the whole training."""
        return {}
