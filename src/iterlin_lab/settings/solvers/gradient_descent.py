"""Gradient descent."""

from typing import Literal

from iterlin_lab.settings.solvers.solver import Solver


class GradientDescent(Solver):
    """Explicit steps."""

    title = "gradient descent"
    copies = 7
    name: Literal["gradient_descent"]

    def make(self, learning_rate):
        from iterlin import sgd

        return sgd(learning_rate)
