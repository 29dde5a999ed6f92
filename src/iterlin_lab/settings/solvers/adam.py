"""Adam."""

from typing import Any, Literal

from iterlin_lab.settings.base import Positive
from iterlin_lab.settings.solvers.solver import Certified


class Adam(Certified):
    """Adam on every lazy problem, to ‖g‖ ≤ `tolerance`·‖g_s‖, with a learning rate of its own.

    `at_feature_update` says whether its momenta start anew with every lazy problem or are kept from the one before.
    """

    title = "Adam"
    copies = 13
    any_basis = False
    name: Literal["adam"]
    learning_rate: Positive
    at_feature_update: Literal["reset", "keep"] = "reset"

    @property
    def own_rate(self) -> float:
        return self.learning_rate

    def described(self, learning_rate: float | None = None) -> str:
        return f"{self.title} (η = {self.learning_rate:g})"

    def values(self) -> dict[str, Any]:
        """What the recipe does not say: that has its η and its tolerance."""
        return {"name": self.name, "at_feature_update": self.at_feature_update}

    def make(self, learning_rate):
        from iterlin import adam

        return adam(learning_rate, at_feature_update=self.at_feature_update)
