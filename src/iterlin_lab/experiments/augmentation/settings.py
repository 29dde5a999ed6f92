"""The section of params.yaml of E-AUG."""

from iterlin_lab.settings.base import (
    Augmentation,
    Compared,
    Count,
    PerDecade,
    Positive,
    Seeds,
    Steps,
    Strict,
    parse_period,
)
from iterlin_lab.settings.shared import Shared, require_no_more


class Augmented(Strict):
    """E-AUG: mini-batches that are augmented anew at every step, with the networks kept at every record."""

    augmentation: Augmentation
    batch_size: Count
    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    records_per_decade: PerDecade
    num_seeds: Seeds


def compared(augmented: Augmented) -> tuple[str, str]:
    """K = 1, and the largest K of E-AUG, as they are spelt."""
    return "1", max(augmented.periods, key=parse_period)


class Scope(Shared):
    """What E-AUG may depend on: what all share, and its section."""

    augmentation: Augmented


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_no_more("augmentation.batch_size", scale.augmentation.batch_size, scale.data.num_train)
    if len(scale.augmentation.periods) < 2:
        raise ValueError('augmentation.periods must contain a K besides "1": the two are compared')
