"""The section of params.yaml of E-DATA."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.settings.base import Compared, Count, Positive, Seeds, Steps, Strict, distinct
from iterlin_lab.settings.shared import Shared, require_examples
from iterlin_lab.settings.solvers import PhaseSolver


class Control(Strict):
    """K = 1 by explicit steps with a learning rate of its own, which K = ∞ has too where its steps are explicit."""

    learning_rate: Positive
    num_steps: Steps


class DataScaling(Strict):
    """E-DATA: every K on training sets of these sizes; the validation and test sets have sizes of their own."""

    sizes: Annotated[list[Count], Field(min_length=3), distinct(int)]
    num_validation: Count
    num_test: Count
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    first_record: Count
    periods: Compared
    control: Control
    num_seeds: Seeds

    def splits(self, num_train: int) -> dict[str, int]:
        """The sizes of the splits with a training set of this size."""
        return {"train": num_train, "validation": self.num_validation, "test": self.num_test}


class Scope(Shared):
    """What E-DATA may depend on: what all share, and its section."""

    data_scaling: DataScaling


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own, batch = scale.data_scaling, scale.training.batch_size
    try:
        require_examples(scale.data.name, own.splits(max(own.sizes)))
    except ValueError as error:
        raise ValueError(f"data_scaling: with the largest of its sizes as num_train, {error}") from None
    if batch is not None and not own.solver.mini_batches:
        raise ValueError(f"training.batch_size must be null: data_scaling.solver {own.solver.name} needs full batches")
    if batch is not None and batch > min(own.sizes):
        raise ValueError(f"training.batch_size is {batch}, more than the smallest of data_scaling.sizes")
