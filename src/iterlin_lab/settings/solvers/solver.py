"""What a solver of params.yaml says of itself. It has a file here of its name, and its export in `__init__.py`.

Nothing else asks which solver it has. Importing a solver imports no jax: `make` does.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from iterlin_lab.settings.base import Fraction, Strict

if TYPE_CHECKING:
    from iterlin import Stepwise


class Solver(Strict, ABC):
    """A solver for phases of a given K.

    `title` is what it is called in texts, and `copies` how many times it keeps the parameters at once: in the state
    before and after a step, in its own, in θ_0, and in what a step computes; `besides` are further bytes. Where
    `mini_batches` is false it takes full batches alone. `any_basis` says that its phases have a dual.
    """

    title: ClassVar[str]
    copies: ClassVar[int]
    besides: ClassVar[int] = 0
    mini_batches: ClassVar[bool] = True
    any_basis: ClassVar[bool] = True
    name: Any  # a literal in each solver

    @property
    def flow_tolerance(self) -> float | None:
        """The tolerance that it integrates gradient flow with, for the time of the steps; None if it takes steps."""
        return None

    def described(self, learning_rate: float | None = None) -> str:
        """What it is called in a sentence, with the η of its runs where it takes one."""
        return self.title if learning_rate is None else f"{self.title} with η = {learning_rate:g}"

    def values(self) -> dict[str, Any]:
        """Its part of a recipe: its name, and what `make` needs besides η."""
        return self.model_dump()

    def evaluations(self, num_steps: int, records: float) -> float:
        """How many gradients so many steps with so many records may cost, or products that cost as much as one."""
        return num_steps

    def evaluations_a_phase(self, steps: float) -> float:
        """About how many gradients a phase of so many steps takes."""
        return steps

    @abstractmethod
    def make(self, learning_rate: Any) -> "Stepwise":
        """The solver of the library, with the η of a recipe, which is None where it takes none."""


class Certified(Solver):
    """A solver that takes every lazy problem to ‖g‖ ≤ `tolerance`·‖g_s‖ before the network is re-linearised."""

    tolerance: Fraction

    @property
    def own_rate(self) -> float | None:
        """The η that it has of its own, if it has one."""
        return None
