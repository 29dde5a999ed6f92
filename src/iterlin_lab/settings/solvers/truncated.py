"""Newton's method by conjugate gradients."""

from typing import Literal

from iterlin_lab.settings.solvers.solver import Certified

PRODUCTS = 10  # with the Gauss–Newton matrix, of a Newton step: seen are 3 to 6, and up to 75 in runs of few steps
A_PHASE = 100  # seen are 30 to 125


class Truncated(Certified):
    """Newton's method by conjugate gradients on every lazy problem, to ‖g‖ ≤ `tolerance`·‖g_s‖."""

    title = "Newton's method by conjugate gradients"
    copies = 13
    besides = 2**27  # the residuals of conjugate gradients
    mini_batches = False
    name: Literal["truncated"]

    def evaluations(self, num_steps: int, records: float) -> float:
        return PRODUCTS * num_steps

    def evaluations_a_phase(self, steps: float) -> float:
        return A_PHASE

    def make(self, learning_rate):
        from iterlin import Truncated

        return Truncated(self.tolerance)
