"""The section of params.yaml of E-DIALS."""

from typing import Annotated

from pydantic import AfterValidator, Field

from iterlin_lab.settings.base import (
    Compared,
    Count,
    Dampings,
    PerDecade,
    Positive,
    Rates,
    Seed,
    Seeds,
    Steps,
    Strict,
    distinct,
    factor_label,
    parse_period,
)
from iterlin_lab.settings.shared import Shared, require_no_more
from iterlin_lab.settings.solvers import CertifiedSolver, PhaseSolver

Factors = Annotated[list[Annotated[str, AfterValidator(factor_label)]], Field(min_length=1), distinct(float)]


class Phases(Strict):
    """How K, α and widths are trained: phases of this solver."""

    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    first_record: Count


class Certified(Strict):
    """How λ is trained: each damped lazy problem is solved to a certificate."""

    solver: CertifiedSolver
    num_steps: Steps


class Explicit(Strict):
    """How η is trained: explicit steps with K = 1, the same number of steps for each."""

    num_steps: Steps


class Dials(Strict):
    """E-DIALS: five dials, each turned by itself, with keys from a `seed` of their own.

    `periods` are K, `dampings` λ, `scales` the output scale α, `widths` multiples of the widths of `net`, and
    `learning_rates` are η. Kernels are computed on `num_examples` training inputs.
    """

    seed: Seed
    flow: Phases
    certified: Certified
    explicit: Explicit
    periods: Compared
    dampings: Dampings
    scales: Factors
    widths: Factors
    learning_rates: Rates
    records_per_decade: PerDecade
    num_examples: Annotated[int, Field(ge=2)]
    num_seeds: Seeds

    @property
    def num_cells(self) -> int:
        """How many settings there are."""
        return sum(map(len, (self.periods, self.dampings, self.scales, self.widths, self.learning_rates)))


class Scope(Shared):
    """What E-DIALS may depend on: what all share, and its section."""

    dials: Dials


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own = scale.dials
    require_no_more("dials.num_examples", own.num_examples, scale.data.num_train)
    if len({parse_period(K) for K in own.periods} - {1}) < 2 or "inf" not in own.periods:
        raise ValueError('dials.periods must contain "1", "inf" and a K between: other dials are compared with them')
    if any(float(damping) == 0 for damping in own.dampings):
        raise ValueError('dials.dampings must not contain "0": without damping, K is the dial')
    if any(float(factor) == 1 for factor in own.widths):
        raise ValueError('dials.widths must not contain "1": that is the network of K = 1')
    for factor in own.widths:
        _require_other_width(scale, factor)


def _require_other_width(scale: Scope, factor: str) -> None:
    try:
        other = scale.net.widened(float(factor))
    except ValueError as error:
        raise ValueError(f"dials.widths: net cannot be {factor} times as wide: {error}") from None
    if other == scale.net:
        raise ValueError(f"dials.widths: net {factor} times as wide is the same network")
