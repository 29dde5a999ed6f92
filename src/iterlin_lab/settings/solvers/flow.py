"""Gradient flow in place of many small steps."""

import math
from typing import Literal

from iterlin_lab.settings.base import Fraction
from iterlin_lab.settings.solvers.solver import Solver

EVALUATIONS = 130  # between two records: seen are 20 to 105
OF_ROOT = 0.2  # seen are 0.1 to 0.3 evaluations for √K in phases of K = 10⁴ to 10⁷ steps with ηλ_max = 0.003


class Flow(Solver):
    """Gradient flow for the time of the steps; `tolerance` bounds the error of one of its own steps."""

    title = "gradient flow"
    copies = 15
    mini_batches = False
    name: Literal["flow"]
    tolerance: Fraction

    @property
    def flow_tolerance(self) -> float:
        return self.tolerance

    def described(self, learning_rate: float | None = None) -> str:
        if learning_rate is None:
            return self.title
        return f"""{self.title} in place of steps of gradient descent with η = {learning_rate:g}: K steps are the time
  ηK, integrated with the tolerance {self.tolerance:g} (see the section on the flow for its error)"""

    def evaluations(self, num_steps: int, records: float) -> float:
        return EVALUATIONS * records

    def evaluations_a_phase(self, steps: float) -> float:
        return OF_ROOT * math.sqrt(steps)

    def make(self, learning_rate):
        from iterlin import Flow

        return Flow(learning_rate, self.tolerance)
