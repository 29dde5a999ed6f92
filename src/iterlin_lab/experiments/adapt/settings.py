"""The section of params.yaml of E-ADAPT."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.settings.base import (
    Compared,
    Count,
    Initialisation,
    ManySteps,
    Name,
    Numbers,
    PerDecade,
    PeriodLabel,
    Positive,
    Seed,
    Seeds,
    Steps,
    Strict,
    parse_period,
)
from iterlin_lab.settings.schedules import AnySchedule, LinearisationError
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solvers import PhaseSolver


class Grid(Strict):
    """Explicit steps at these η: every K, and the schedule `watching` the linearisation error."""

    learning_rates: Numbers
    periods: Compared
    watching: LinearisationError
    num_steps: Steps
    num_seeds: Seeds


class Adapt(Strict):
    """E-ADAPT: fixed K beside schedules, with keys from a `seed` of their own and an `initialisation` of their own.

    The schedules are those of B-ADAPT, and two that see nothing of the network: K that grows, and K at random.
    `reference` is the K whose accuracy they are to reach with fewer feature updates.
    """

    seed: Seed
    initialisation: Initialisation
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: ManySteps
    first_record: Count
    records_per_decade: PerDecade
    periods: Compared
    reference: PeriodLabel
    schedules: Annotated[dict[Name, AnySchedule], Field(min_length=1)]
    grid: Grid
    num_seeds: Seeds


class Scope(Shared):
    """What E-ADAPT may depend on: what all share, and its section."""

    adapt: Adapt


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own = scale.adapt
    if scale.training.batch_size is not None and not own.solver.mini_batches:
        raise ValueError(f"training.batch_size must be null: adapt.solver {own.solver.name} needs full batches")
    finite = {parse_period(K) for K in own.periods if K not in ("1", "inf")}
    if len(finite) < 2:
        raise ValueError('adapt.periods must contain two finite K besides "1": accuracy is compared between them')
    if parse_period(own.reference) not in finite:
        raise ValueError('adapt.reference must be one of adapt.periods, finite and not "1"')
