"""Lazy problems that are solved to a certificate, in params.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from iterlin_lab.settings.base import Fraction, PerDecade, Positive, Steps, Strict


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
