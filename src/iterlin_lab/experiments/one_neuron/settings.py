"""The section of params.yaml for L-RELU."""

from typing import Annotated

from pydantic import Field, model_validator

from iterlin_lab.settings.base import Count, Fraction, Numbers, PerDecade, Positive, Seeds, Steps, Strict, distinct
from iterlin_lab.settings.shared import Shared

Ratios = Annotated[Numbers, Field(min_length=2)]


class Descent(Strict):
    """Gradient descent on one neuron from weights of norm about `initial_norm`, until its loss is `fit_loss`.

    It is run for n/d in `ratios`, with steps of length η = `learning_rate`.
    """

    ratios: Ratios
    initial_norm: Positive
    learning_rate: Positive
    num_steps: Steps
    records_per_decade: PerDecade
    fit_loss: Positive


class OneNeuron(Strict):
    """L-RELU: one ReLU neuron by gradient descent against kernel ridge regression and lazy training.

    `ratios` are the n/d of the kernels, `ridge` is their λ, and `width` the N of the network that is trained lazily.
    n_ε is where the test error, in units of E y², falls to `error`.
    """

    dimensions: Annotated[list[Annotated[int, Field(ge=2)]], Field(min_length=2), distinct(int)]
    descent: Descent
    ratios: Ratios
    width: Annotated[int, Field(ge=2, multiple_of=2)]
    ridge: Positive
    error: Fraction
    num_test: Count
    num_seeds: Seeds

    @model_validator(mode="after")
    def _consistent(self) -> "OneNeuron":
        for ratios in (self.ratios, self.descent.ratios):
            if min(ratios) * min(self.dimensions) < 1:
                raise ValueError(f"the smallest of ratios must leave one example where d = {min(self.dimensions)}")
        return self


class Scope(Shared):
    """What L-RELU may depend on: what all share, and its section."""

    one_neuron: OneNeuron
