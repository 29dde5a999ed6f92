"""The section of params.yaml for L-LAZY."""

from typing import Annotated

from pydantic import Field, model_validator

from iterlin_lab.settings.base import Count, Fraction, Numbers, Positive, Seeds, Strict, distinct
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.two_layer import Activation, Width

Records = Annotated[int, Field(ge=3, le=1000)]


class LazyFlow(Strict):
    """L-LAZY: the flows of f and of f_lin for γ = N^−p, with p of `exponents` and N of `widths`.

    Each lasts `duration` = γ²Nt. f is integrated with the relative `tolerance`.
    """

    activation: Activation
    dimension: Count
    num_train: Count
    num_test: Count
    widths: Annotated[list[Width], Field(min_length=3), distinct(int)]
    exponents: Numbers
    duration: Positive
    num_records: Records
    tolerance: Fraction
    num_seeds: Seeds

    @model_validator(mode="after")
    def _consistent(self) -> "LazyFlow":
        if 1.0 not in self.exponents or min(self.exponents) == 1:
            raise ValueError(
                f"exponents must contain 1.0, where Theorem 3 ends, and a smaller one, got {self.exponents}"
            )
        return self


class Scope(Shared):
    """What L-LAZY may depend on: what all share, and its section."""

    lazy_flow: LazyFlow
