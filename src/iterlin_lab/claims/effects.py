"""The numbers that claims rest on: means with their 95 % t-intervals, which the report draws."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

import pandas as pd

from iterlin_lab.statistics import interval

POINTS = "points"  # of accuracy
PER_DOUBLING = "points per doubling"
PERCENT = "%"
HUNDREDFOLD = (POINTS, PER_DOUBLING, PERCENT)


class Effect(NamedTuple):
    """A mean with the ends of its 95 % t-interval, in `unit`; `name` tells apart the effects of one claim."""

    name: str
    mean: float
    low: float
    high: float
    unit: str


def effects(values: Mapping[str, pd.Series], unit: str = POINTS) -> tuple[Effect, ...]:
    """One for each of the series, which have a value a run, by its name; none where there is no interval."""
    found = []
    for name, series in values.items():
        mean, low, high = (in_unit(value, unit) for value in interval(series))
        if isfinite(low) and isfinite(high):
            found.append(Effect(name, mean, low, high, unit))
    return tuple(found)


def in_unit(value: float, unit: str) -> float:
    """As it is shown: points and percent are hundredths. Six digits, as in the tables."""
    return float(f"{100 * value if unit in HUNDREDFOLD else value:.6g}")


def drawn(claims: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The judged claims that have effects in points of accuracy, which share one axis."""
    return {name: row for name, row in claims.items() if any(one["unit"] == POINTS for one in row.get("effects", ()))}


def group(claim: str) -> str:
    """What the claims of one experiment are called, from the id of one: its id without the number."""
    return claim.rsplit("-", 1)[0]
