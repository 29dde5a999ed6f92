"""The section of params.yaml of what stands around E-SWEEP."""

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import Factors, Periods, Seeds, Steps, Strict, parse_period
from iterlin_lab.settings.shared import Shared


class Sensitivity(Strict):
    """The part of E-SWEEP that is run again by gradient descent at multiples of its η.

    Times ηK and η·`num_steps` stay: K and `num_steps` count steps of the sweep.
    """

    factors: Factors
    periods: Periods
    num_steps: Steps
    num_seeds: Seeds


class Scope(Shared):
    """What E-SWEEP, around may depend on: what all share, and its section, and the sections that it reads."""

    sensitivity: Sensitivity
    k_sweep: KSweep


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    around, sweep = scale.sensitivity, scale.k_sweep
    if not {1} <= {*map(parse_period, around.periods)} <= {*map(parse_period, sweep.periods)}:
        raise ValueError('sensitivity.periods must contain "1" and be among k_sweep.periods')
    require_as_many("sensitivity", around.num_seeds, sweep)
    if 1 in map(float, around.factors):
        raise ValueError('sensitivity.factors must not contain "1": that is the sweep itself')
