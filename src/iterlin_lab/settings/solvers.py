"""The solvers of params.yaml: for phases of a given K, and for lazy problems that are solved to a certificate."""

from typing import Annotated, Literal

from pydantic import Field

from iterlin_lab.settings.base import Fraction, PerDecade, Positive, Steps, Strict


class GradientDescent(Strict):
    """Explicit steps."""

    name: Literal["gradient_descent"]


class Flow(Strict):
    """Gradient flow for the time of the steps; `tolerance` bounds the error of one of its own steps."""

    name: Literal["flow"]
    tolerance: Fraction


class Adam(Strict):
    """Adam on every lazy problem, to ‖g‖ ≤ `tolerance`·‖g_s‖."""

    name: Literal["adam"]
    learning_rate: Positive
    tolerance: Fraction


class Truncated(Strict):
    """Newton's method by conjugate gradients on every lazy problem, to ‖g‖ ≤ `tolerance`·‖g_s‖."""

    name: Literal["truncated"]
    tolerance: Fraction


class Solved(Strict):
    """Truncated Gauss–Newton: which solver, up to how many of its own steps, and how often it is recorded."""

    solver: Annotated[Adam | Truncated, Field(discriminator="name")]
    num_steps: Steps
    records_per_decade: PerDecade
    num_seeds: Annotated[int, Field(ge=2)]
