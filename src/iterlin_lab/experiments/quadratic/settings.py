"""The section of params.yaml of E-QUAD."""

from typing import Annotated, ClassVar

from pydantic import Field

from iterlin_lab.settings.base import Count, Initialisation, PerDecade, Positive, Seed, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared, require_no_more
from iterlin_lab.settings.solvers import PhaseSolver

NETWORK = 0  # the order of what is not expanded
SPLITS = ("train", "test")


class Quadratic(Strict):
    """E-QUAD: one phase from initialisation, of the network and of both expansions, with a `seed` of its own.

    Phases take `num_steps`, whether the training set is fitted before or not. Outputs are compared on `num_examples`
    examples of the training and of the test data each.
    """

    orders: ClassVar[tuple[int, ...]] = (1, 2)

    seed: Seed
    initialisation: Initialisation
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    first_record: Count
    records_per_decade: PerDecade
    num_examples: Annotated[int, Field(ge=2)]
    num_seeds: Seeds


class Scope(Shared):
    """What E-QUAD may depend on: what all share, and its section."""

    quadratic: Quadratic


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own = scale.quadratic
    for split, there_are in (("train", scale.data.num_train), ("test", scale.data.num_test)):
        require_no_more("quadratic.num_examples", own.num_examples, there_are, f"data.num_{split}")
    if scale.training.batch_size is not None and not own.solver.mini_batches:
        raise ValueError(f"training.batch_size must be null: quadratic.solver {own.solver.name} needs full batches")
    if own.first_record > own.num_steps:
        raise ValueError(f"quadratic.first_record is {own.first_record}, more than num_steps, which is {own.num_steps}")
