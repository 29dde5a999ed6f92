"""The section of params.yaml of E-FILTER and B-NTK, which read the networks of E-AUG."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.experiments.augmentation.settings import Augmented
from iterlin_lab.settings.base import Count, PerDecade, Strict
from iterlin_lab.settings.shared import Shared


class Filters(Strict):
    """The filters that are drawn and their columns; permutations of the null; and the kernels.

    Kernels are computed on `num_examples` training inputs, for K = 1 at `kernels_per_decade` of its snapshots.
    """

    num_drawn: Count
    num_columns: Count
    num_permutations: Count
    num_examples: Annotated[int, Field(ge=2)]
    kernels_per_decade: PerDecade


class Scope(Shared):
    """What E-FILTER may depend on: what all share, and its section, and the sections that it reads."""

    filters: Filters
    augmentation: Augmented


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    if scale.filters.num_examples > scale.data.num_train:
        raise ValueError(f"filters.num_examples must not exceed data.num_train, which is {scale.data.num_train}")
