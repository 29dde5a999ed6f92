"""What a claim is, and its tests on paired differences over runs.

Every test has an opposite. Margins are part of the claims.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from iterlin_lab.claims.effects import POINTS, Effect, effects
from iterlin_lab.report.names import named
from iterlin_lab.statistics import interval, p_above, p_below, p_more, p_trend, within

MIN_RUNS = 5


class Evidence(NamedTuple):
    """p-values for a claim and for its opposite, and what they rest on, in words and in numbers."""

    p_for: float
    p_against: float
    text: str
    effects: tuple[Effect, ...] = ()


class Claim(NamedTuple):
    """A statement of the sources and how it is tested.

    `test` takes the table of runs and the margin. It returns None where the runs that it needs are missing, and the
    reason where they cannot show it.
    """

    id: str
    source: str
    statement: str
    paper: str
    statistic: str
    margin: float
    test: Callable[[pd.DataFrame, float], Evidence | str | None]


class Family(NamedTuple):
    """The claims of one experiment, which are corrected for their number, and the table that their tests take."""

    id: str
    table: str
    claims: Sequence[Claim]


def finite(runs: pd.DataFrame, largest: float = math.inf) -> dict[str, pd.DataFrame]:
    """The runs of every finite K > 1 up to the largest, by its name."""
    kept = runs[(runs["K"] > 1) & (runs["K"] <= largest) & np.isfinite(runs["K"])]
    return {named(K=K): kept[kept["K"] == K] for K in kept["K"].unique()}


def paired(runs: pd.DataFrame, reference: pd.DataFrame, column: str, other: str | None = None) -> pd.Series | None:
    """`column` minus that, or the `other`, of the reference, run by run; None below `MIN_RUNS` pairs."""
    difference = (runs.set_index("run")[column] - reference.set_index("run")[other or column]).dropna()
    return difference if len(difference) >= MIN_RUNS else None


def alike(runs: pd.DataFrame, column: str, margin: float) -> Evidence | None:
    """Every finite K > 1 is equivalent to K = 1; None if a run of one of them diverged."""
    one, others = runs[runs["K"] == 1], finite(runs)
    if any_diverged(one, *others.values()):
        return None
    differences = {name: paired(rows, one, column) for name, rows in others.items()}
    return equivalent({name: values for name, values in differences.items() if values is not None}, margin)


def below(values: pd.Series | None, margin: float) -> Evidence | None:
    """The mean difference is negative; the opposite is that it is no larger than the margin."""
    if values is None:
        return None
    return Evidence(p_below(values, 0), p_above(values, -margin), f"difference {points(values)}", effects({"": values}))


def above(values: pd.Series | None, margin: float) -> Evidence | None:
    """The mean difference is above the margin; the opposite is that it is below it."""
    if values is None:
        return None
    return Evidence(
        p_above(values, margin), p_below(values, margin), f"difference {points(values)}", effects({"": values})
    )


def equivalent(
    differences: Mapping[str, pd.Series], margin: float, note: str = "", unit: str = POINTS
) -> Evidence | None:
    """All mean differences lie within ± margin (two one-sided tests each); the opposite is that one lies outside."""
    if not differences:
        return None
    inside, outside = zip(*(within(d, -margin, margin) for d in differences.values()), strict=True)
    text = "; ".join(f"{name}: {points(d)}" for name, d in differences.items())
    p_outside = min(1, len(differences) * min(outside))
    return Evidence(max(inside), p_outside, text + note, effects(differences, unit))


def apart(gaps: Mapping[str, pd.Series], margin: float) -> Evidence | None:
    """All curves are, at their farthest, less than the margin apart on average over runs; or else one is not."""
    if not gaps or any(len(gap) < MIN_RUNS or gap.isna().any() for gap in gaps.values()):
        return None
    p_near = max(p_below(gap, margin) for gap in gaps.values())
    p_far = min(1, len(gaps) * min(p_above(gap, margin) for gap in gaps.values()))
    text = "; ".join(f"{name}: {points(gap)}" for name, gap in gaps.items())
    return Evidence(p_near, p_far, f"largest gap {text}", effects(gaps))


def any_diverged(*tables: pd.DataFrame) -> bool:
    """Whether a run of these tables did."""
    return any((runs["outcome"] == "diverged").any() for runs in tables)


def some_above(differences: Mapping[str, pd.Series], margin: float) -> Evidence | None:
    """At least one mean difference is positive; the opposite is that all are smaller than the margin."""
    if not differences:
        return None
    p_one = min(1, len(differences) * min(p_above(d, 0) for d in differences.values()))
    text = "; ".join(f"{name}: {points(d)}" for name, d in differences.items())
    p_all = max(p_below(d, margin) for d in differences.values())
    return Evidence(p_one, p_all, text, effects(differences))


def trend(values: pd.DataFrame | None, text: str) -> Evidence | None:
    """Along the columns, in their order, values rise in the rows, which are runs; or else they fall.

    None below `MIN_RUNS` rows or three columns; rows with missing values are left out.
    """
    whole = None if values is None else values.dropna()
    if whole is None or len(whole) < MIN_RUNS or whole.shape[1] < 3:
        return None
    return Evidence(*p_trend(whole), text)


def in_most(values: pd.Series, share: float, text: str) -> Evidence | None:
    """More than this share of draws have a positive value; the opposite is that fewer have. An exact binomial test."""
    if len(values) < MIN_RUNS:
        return None
    positive = int((values > 0).sum())
    return Evidence(*p_more(positive, len(values), share), f"in {positive} of {len(values)} draws; {text}")


def points(values: pd.Series) -> str:
    """Mean and 95 % t-interval, in points."""
    return estimate(100 * values, "+.1f")


def estimate(values: pd.Series, form: str) -> str:
    """Mean and 95 % t-interval."""
    mean, low, high = interval(values)
    return f"{mean:{form}} [{low:{form}}, {high:{form}}]"
