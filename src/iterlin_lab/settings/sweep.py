"""The sections of params.yaml that the networks on images share, and those of E-SWEEP."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.settings.base import (
    Count,
    Factors,
    Fraction,
    Initialisation,
    PerDecade,
    Periods,
    Positive,
    Steps,
    Strict,
)


def _data_name(name: str) -> str:
    if name not in DATA_SETS:
        raise ValueError(f"there is no data set {name!r}, but {', '.join(DATA_SETS)}")
    return name


def require_examples(name: str, sizes: dict[str, int]) -> None:
    """**Raises**: `ValueError` if the data set has fewer examples than these splits ask for."""
    data = DATA_SETS[name]
    asked = {"num_train + num_validation": sizes["train"] + sizes["validation"], "num_test": sizes["test"]}
    there_are = {"num_train + num_validation": data.num_examples - data.num_test, "num_test": data.num_test}
    if not data.num_test:
        asked = {"num_train + num_validation + num_test": sum(sizes.values())}
        there_are = {"num_train + num_validation + num_test": data.num_examples}
    for what, wanted in asked.items():
        if wanted > there_are[what]:
            raise ValueError(f"{what} is {wanted}, but {name} has {there_are[what]} examples for that")


class Data(Strict):
    """Which data, and how many examples each run draws for its splits."""

    name: Annotated[str, AfterValidator(_data_name)]
    num_train: Count
    num_validation: Count
    num_test: Count

    @model_validator(mode="after")
    def _enough(self) -> Self:
        require_examples(self.name, self.sizes)
        return self

    @property
    def sizes(self) -> dict[str, int]:
        return {"train": self.num_train, "validation": self.num_validation, "test": self.num_test}


class LeNet(Strict):
    """NET-LENET."""

    name: Literal["lenet"]
    channels: Annotated[list[Count], Field(min_length=2, max_length=2)]
    kernel: Count
    padding: Literal["VALID", "SAME"]
    widths: list[Count]
    initialisation: Initialisation


class MLP(Strict):
    """A multilayer perceptron."""

    name: Literal["mlp"]
    width: Count
    depth: Count
    initialisation: Initialisation


class FixedRate(Strict):
    """A learning rate that is given."""

    rule: Literal["fixed"]
    learning_rate: Positive


class StableRate(Strict):
    """The rule for the learning rate: ηλ_max = `stability` at the sharpest of `num_seeds` initialisations."""

    rule: Literal["stable"]
    stability: Annotated[float, Field(gt=0, lt=2)]
    num_seeds: Count


class Training(Strict):
    """What all training runs share."""

    batch_size: Count | None
    fit_loss: Positive
    divergence_factor: Annotated[float, Field(gt=1, allow_inf_nan=False)]
    records_per_decade: PerDecade


class GradientDescent(Strict):
    """Explicit steps."""

    name: Literal["gradient_descent"]


class Flow(Strict):
    """Gradient flow for the time of the steps; `tolerance` bounds the error of one of its own steps."""

    name: Literal["flow"]
    tolerance: Fraction


class KSweep(Strict):
    """E-SWEEP: its solver, its step limit, its first record after step 0, and its axis."""

    solver: Annotated[GradientDescent | Flow, Field(discriminator="name")]
    num_steps: Steps
    first_record: Count
    periods: Periods
    num_seeds: Annotated[int, Field(ge=2)]


class Sensitivity(Strict):
    """The part of E-SWEEP that is run again by gradient descent at multiples of its η.

    Times ηK and η·`num_steps` stay: K and `num_steps` count steps of the sweep.
    """

    factors: Factors
    periods: Periods
    num_steps: Steps
    num_seeds: Annotated[int, Field(ge=2)]


class FlowCheck(Strict):
    """Gradient flow with these tolerances against `num_steps` explicit steps with these learning rates."""

    learning_rates: Annotated[list[Positive], Field(min_length=1)]
    num_steps: Steps
    tolerances: Annotated[list[Fraction], Field(min_length=1)]
    num_seeds: Count
