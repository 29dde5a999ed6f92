"""Adam."""

from typing import Any, Literal

from iterlin_lab.settings.base import Positive
from iterlin_lab.settings.solvers.solver import Certified


class Adam(Certified):
    """Adam on every lazy problem, to ‖g‖ ≤ `tolerance`·‖g_s‖, with a learning rate of its own."""

    title = "Adam"
    copies = 13
    any_basis = False
    name: Literal["adam"]
    learning_rate: Positive

    @property
    def own_rate(self) -> float:
        return self.learning_rate

    def described(self, learning_rate: float | None = None) -> str:
        return f"{self.title} (η = {self.learning_rate:g})"

    def values(self) -> dict[str, Any]:
        """Its name alone: the recipe has its η, and the schedule the tolerance."""
        return {"name": self.name}

    def make(self, learning_rate):
        from iterlin import adam

        return adam(learning_rate)
