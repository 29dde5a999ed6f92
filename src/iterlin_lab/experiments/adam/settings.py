"""The section of params.yaml of E-ADAM."""

import math
from typing import Annotated

from pydantic import AfterValidator, model_validator

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import (
    Count,
    PerDecade,
    PeriodLabel,
    Positive,
    Rates,
    Seeds,
    Steps,
    Strict,
    Tolerances,
)
from iterlin_lab.settings.shared import Shared


def _between(label: str) -> str:
    if label in ("1", "inf"):
        raise ValueError(f'must be finite and above "1", so that lazy problems are solved one by one, got {label!r}')
    return label


class Tuned(Strict):
    """K = 1 with explicit steps on the network itself, of which the best of these η counts (`table.tuned`)."""

    learning_rates: Rates
    num_steps: Steps

    def cells(self, name: str) -> dict[str, float]:
        """The η of each folder of results."""
        return {f"{name}-{rate:g}": rate for rate in sorted(self.learning_rates)}


class AdamSolved(Strict):
    """Adam for a constant number of steps K on every lazy problem, large enough to solve it."""

    learning_rate: Positive
    period: Annotated[PeriodLabel, AfterValidator(_between)]
    num_steps: Steps
    first_record: Count


class TruncatedCells(Strict):
    """Every lazy problem is solved to a certificate β, by Newton's method; `num_steps` counts Newton steps."""

    tolerances: Tolerances
    num_steps: Steps


class AdamCells(Strict):
    """E-ADAM: its cells besides K = 1 of E-SWEEP. Records are so dense that all ends of phases are among them.

    `descent` is gradient descent and `gradient` is Adam, both with K = 1. `solved` is trained twice: with Adam's
    momenta reset at feature updates, and kept.
    """

    descent: Tuned
    gradient: Tuned
    solved: AdamSolved
    truncated: TruncatedCells
    records_per_decade: PerDecade
    num_seeds: Seeds

    @model_validator(mode="after")
    def _ends_are_recorded(self) -> "AdamCells":
        period, steps = int(float(self.solved.period)), self.solved.num_steps
        if period >= steps:
            raise ValueError(f"solved.num_steps is {steps}, not even two phases of solved.period, which is {period}")
        needed = math.ceil(1 / -math.log10(1 - period / steps))
        if self.records_per_decade < needed:
            raise ValueError(
                f"records_per_decade is {self.records_per_decade}, but up to step {steps} the ends of phases of "
                f"{period} steps are recorded with {needed} or more"
            )
        return self

    @property
    def cells(self) -> list[str]:
        """The folders of its results, in the order of the report."""
        of_one = [*self.descent.cells("descent"), *self.gradient.cells("gradient")]
        return [*of_one, "solved", "kept", *(f"truncated-{tolerance}" for tolerance in self.truncated.tolerances)]


class Scope(Shared):
    """What E-ADAM may depend on: what all share, and its section, and the sections that it reads."""

    adam: AdamCells
    k_sweep: KSweep


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_as_many("adam", scale.adam.num_seeds, scale.k_sweep)
