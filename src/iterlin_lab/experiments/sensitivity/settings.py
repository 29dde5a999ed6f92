"""The section of params.yaml of what stands around E-SWEEP."""

from typing import Annotated, get_args

from pydantic import AfterValidator, Field

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import (
    Initialisation,
    Periods,
    Seeds,
    Steps,
    Strict,
    distinct,
    factor_label,
    parse_period,
)
from iterlin_lab.settings.shared import Shared

INITIALISATIONS = get_args(Initialisation)


def _variant(label: str) -> str:
    return label if label in INITIALISATIONS else factor_label(label)


def _same(label: str) -> str | float:
    return label if label in INITIALISATIONS else float(label)


Variants = Annotated[list[Annotated[str, AfterValidator(_variant)]], Field(min_length=1), distinct(_same)]


class Sensitivity(Strict):
    """The part of E-SWEEP that is run again with another learning rate, or from another initialisation.

    A number is a multiple of η, by gradient descent: times ηK and η·`num_steps` stay, for K and `num_steps` count steps
    of the sweep. A name is an initialisation, with the sweep's own solver.
    """

    variants: Variants
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
    if {1, scale.net.initialisation} & {*map(_same, around.variants)}:
        raise ValueError(
            'sensitivity.variants must not contain "1" or the initialisation of net: that is the sweep itself'
        )
