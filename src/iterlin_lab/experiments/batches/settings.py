"""The section of params.yaml of E-BATCH."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.settings.base import Compared, Count, PerDecade, Positive, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared, require_no_more


class Batches(Strict):
    """E-BATCH: full batches with η and K; mini-batches with η / `ratio`, and `ratio` times as large K and steps."""

    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    batch_size: Count
    ratio: Annotated[int, Field(ge=2)]
    records_per_decade: PerDecade
    num_seeds: Seeds


class Scope(Shared):
    """What E-BATCH may depend on: what all share, and its section."""

    batches: Batches


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_no_more("batches.batch_size", scale.batches.batch_size, scale.data.num_train)
