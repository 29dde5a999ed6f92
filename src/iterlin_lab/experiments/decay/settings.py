"""The section of params.yaml for L-DECAY."""

from typing import Annotated

from pydantic import Field, model_validator

from iterlin_lab.settings.base import Count, Fraction, Numbers, Positive, Seeds, Strict, distinct
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.two_layer import Activation, Width


class Decay(Strict):
    """L-DECAY: the loss along the flow of f_lin, and along the flow of f for γ = N^−p with p of `exponents`.

    Each is on so many training examples as `sizes` has, and lasts 2λt = `horizon`, where λ belongs to f_lin.
    """

    activation: Activation
    dimension: Count
    width: Width
    sizes: Annotated[list[Count], Field(min_length=1), distinct(int)]
    exponents: Numbers
    horizon: Positive
    num_records: Annotated[int, Field(ge=10, le=1000)]  # enough in the last quarter to fit a rate
    tolerance: Fraction
    num_seeds: Seeds

    @model_validator(mode="after")
    def _consistent(self) -> "Decay":
        rank = self.width // 2 * (self.dimension + 1)  # of pairs with the same weights
        if max(self.sizes) > rank:
            raise ValueError(f"sizes must not exceed {rank}, the rank that J can have with this width and dimension")
        return self


class Scope(Shared):
    """What L-DECAY may depend on: what all share, and its section."""

    decay: Decay
