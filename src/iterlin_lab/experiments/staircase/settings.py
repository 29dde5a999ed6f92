"""The section of params.yaml for L-KRR."""

import math
from typing import Annotated

from pydantic import Field, model_validator

from iterlin_lab.settings.base import Count, Fraction, Positive, Seeds, Strict, distinct
from iterlin_lab.settings.shared import Shared

Dimensions = Annotated[list[Annotated[int, Field(ge=4)]], Field(min_length=2), distinct(int)]


class Staircase(Strict):
    """L-KRR: kernel ridge regression on n = d^p examples, for p from ½ in steps of 1/`per_degree` up to `max_train`.

    The target has the `energies` in the degrees 1, 2, …. The activation is erf(z + `shift`), and `ridge` is λ.
    """

    dimensions: Dimensions
    energies: Annotated[list[Fraction], Field(min_length=2, max_length=3)]
    shift: Positive
    ridge: Positive
    per_degree: Annotated[int, Field(ge=2, multiple_of=2)]
    max_train: Count
    num_test: Count
    num_seeds: Seeds

    @model_validator(mode="after")
    def _consistent(self) -> "Staircase":
        if not math.isclose(sum(self.energies), 1):
            raise ValueError(f"energies must sum to 1, the norm of the target, got {self.energies}")
        if max(self.dimensions) > self.max_train:
            raise ValueError(f"max_train must not be below the largest of dimensions, which is {max(self.dimensions)}")
        return self

    def energy_above(self, degree: int) -> float:
        """‖P_{>l} f*‖², the plateau of l = `degree`."""
        return float(sum(self.energies[degree:]))

    def sizes(self, dimension: int) -> dict[float, int]:
        """n by p = log n / log d."""
        last = math.floor(self.per_degree * math.log(self.max_train, dimension))
        exponents = [step / self.per_degree for step in range(self.per_degree // 2, last + 1)]
        return {exponent: round(dimension**exponent) for exponent in exponents}


class Scope(Shared):
    """What L-KRR may depend on: what all share, and its section."""

    staircase: Staircase
