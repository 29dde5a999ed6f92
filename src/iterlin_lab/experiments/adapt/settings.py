"""The section of params.yaml of E-ADAPT."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.settings.base import (
    Compared,
    Count,
    Initialisation,
    Name,
    PerDecade,
    PeriodLabel,
    Positive,
    Rates,
    Seed,
    Seeds,
    Steps,
    Strict,
    parse_period,
)
from iterlin_lab.settings.schedules import AnySchedule, LinearisationError, Scheduled
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solvers import CertifiedSolver, PhaseSolver


class Grid(Strict):
    """Explicit steps at these η: every K, and the schedule `watching` the linearisation error."""

    learning_rates: Rates
    periods: Compared
    watching: LinearisationError
    num_steps: Steps


class Damped(Strict):
    """Truncated Gauss–Newton whose λ starts at `damping`, and is multiplied or divided by `change` after a phase."""

    solver: CertifiedSolver
    damping: Positive
    change: Annotated[float, Field(gt=1, allow_inf_nan=False)]
    num_steps: Steps
    records_per_decade: PerDecade


class Adapt(Strict):
    """E-ADAPT: fixed K beside schedules, with keys from a `seed` of their own and an `initialisation` of their own.

    The schedules are those of B-ADAPT, and two that see nothing of the network: K that grows, and K at random.
    `reference` is the K whose accuracy they are to reach with fewer feature updates.
    """

    seed: Seed
    initialisation: Initialisation
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    first_record: Count
    records_per_decade: PerDecade
    periods: Compared
    reference: PeriodLabel
    schedules: Annotated[dict[Name, AnySchedule], Field(min_length=1)]
    damped: Damped
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
    if taken := own.schedules.keys() & {*own.periods, "damped"}:
        raise ValueError(f"adapt.schedules must have other names than {min(taken)!r}, which another cell has")
    for name, schedule in own.schedules.items():
        _require_possible(f"adapt.schedules.{name}", schedule)


def _require_possible(key: str, schedule: Scheduled) -> None:
    """**Raises**: `ValueError` for numbers that do not go together."""
    numbers = schedule.model_dump()
    for low in ("first", "least"):
        if low in numbers and numbers["most"] < numbers[low]:
            raise ValueError(f"{key}.most must be at least {low}, which is {numbers[low]}, got {numbers['most']}")
    for name, least in (("factor", 1), ("num_probes", 2)):
        if numbers.get(name, least) < least:
            raise ValueError(f"{key}.{name} must be at least {least}, got {numbers[name]}")
