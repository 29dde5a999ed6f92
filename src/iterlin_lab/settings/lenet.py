"""The sections of params.yaml of the papers' further experiments on their convolutional network."""

from typing import Annotated

from pydantic import AfterValidator, Field

from iterlin_lab.settings.base import (
    Count,
    Numbers,
    PerDecade,
    Periods,
    Positive,
    Steps,
    Strict,
    distinct,
    parse_period,
)
from iterlin_lab.settings.sweep import Data, Flow, GradientDescent

Seeds = Annotated[int, Field(ge=2)]


def _with_one(periods: list[str]) -> list[str]:
    if "1" not in periods:
        raise ValueError('must contain "1": every K is compared with K = 1')
    return periods


def _augmentation(name: str) -> str:
    if name not in AUGMENTATIONS:
        raise ValueError(f"there is no augmentation {name!r}, but {', '.join(AUGMENTATIONS)}")
    return name


AUGMENTATIONS = ("flips_and_crops", "shifts")
Compared = Annotated[Periods, AfterValidator(_with_one)]


class MNIST(Strict):
    """E-MNIST: gradient descent on full batches for every K, on data of its own, for `num_steps`."""

    data: Data
    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    records_per_decade: PerDecade
    num_seeds: Seeds


class Augmented(Strict):
    """E-AUG: mini-batches that are augmented anew at every step, with the networks kept at every record."""

    augmentation: Annotated[str, AfterValidator(_augmentation)]
    batch_size: Count
    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    records_per_decade: PerDecade
    num_seeds: Seeds


def compared(augmented: Augmented) -> tuple[str, str]:
    """K = 1, and the largest K of E-AUG."""
    return "1", max(augmented.periods, key=parse_period)


class Stability(Strict):
    """E-STABLE: which pairs of η and K diverge within `num_steps`."""

    learning_rates: Numbers
    periods: Compared
    num_steps: Steps
    num_seeds: Seeds


class Batches(Strict):
    """E-BATCH: full batches with η and K; mini-batches with η / `ratio`, and `ratio` times as large K and steps."""

    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    batch_size: Count
    ratio: Annotated[int, Field(ge=2)]
    records_per_decade: PerDecade
    num_seeds: Seeds


class Control(Strict):
    """K = 1 by explicit steps with a learning rate of its own, which K = ∞ has too where its steps are explicit."""

    learning_rate: Positive
    num_steps: Steps


class DataScaling(Strict):
    """E-DATA: every K on training sets of these sizes; the validation and test sets have sizes of their own."""

    sizes: Annotated[list[Count], Field(min_length=3), distinct(int)]
    num_validation: Count
    num_test: Count
    solver: Annotated[GradientDescent | Flow, Field(discriminator="name")]
    learning_rate: Positive
    num_steps: Steps
    first_record: Count
    periods: Compared
    control: Control
    num_seeds: Seeds

    def splits(self, num_train: int) -> dict[str, int]:
        """The sizes of the splits with a training set of this size."""
        return {"train": num_train, "validation": self.num_validation, "test": self.num_test}
