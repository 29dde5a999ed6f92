"""The claims of E-WIDTH, on the columns of `width_runs`, paired by run.

Along the width, a run's slope is by least squares in log₂ of the channels, so that it is a change per doubling.
"""

from functools import partial

import numpy as np
import pandas as pd

from iterlin_lab.claims.effects import PER_DOUBLING, effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, below, equivalent, estimate, points
from iterlin_lab.report.names import named
from iterlin_lab.statistics import p_above, p_below

LARGE, LAZY = 1e8, np.inf
POINT = 0.01


def by_width(runs: pd.DataFrame, K: float, column: str) -> pd.DataFrame | None:
    """A row a run and a column a width; None below `MIN_RUNS` runs in which all are known."""
    table = runs[runs["K"] == K].pivot(index="run", columns="channels", values=column).dropna()
    return table if len(table) >= MIN_RUNS else None


def slopes(table: pd.DataFrame) -> pd.Series:
    """Of each run, the change per doubling of the channels."""
    slope, _ = np.polyfit(np.log2(table.columns.to_numpy(float)), table.to_numpy().T, 1)
    return pd.Series(slope, table.index)


def _lazier(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """A network of twice the width moves its kernel by 2ᵖ, p below zero; or else above."""
    table = by_width(runs, 1, "kernel_distance")
    if table is None:
        return None
    found = slopes(table.apply(np.log2))
    text = f"exponent of kernel distance against width {estimate(found, '+.2f')}"
    return Evidence(p_below(found, margin), p_above(found, margin), text, effects({"": found}, "exponent"))


def _nearer(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The difference of lazy training rises with width; or else it falls."""
    table = by_width(runs, LAZY, "difference")
    if table is None:
        return None
    found = slopes(table)
    text = f"change per doubling {points(found)}"
    return Evidence(p_above(found, margin), p_below(found, margin), text, effects({"": found}, PER_DOUBLING))


def _same_picture(runs: pd.DataFrame, margin: float) -> Evidence | None:
    table = by_width(runs, LARGE, "difference")
    return None if table is None else equivalent({"change per doubling": slopes(table)}, margin, unit=PER_DOUBLING)


def _widest_below(runs: pd.DataFrame, margin: float, K: float) -> Evidence | None:
    table = by_width(runs, K, "difference")
    if table is None:
        return None
    widest = table.columns.max()
    evidence = below(table[widest], margin)
    return evidence and evidence._replace(text=f"{widest} channels, {named(K=K)}: {evidence.text}")


CLAIMS = (
    Claim(
        "E-WIDTH-1",
        "ours, after L theorem 3",
        "The wider the network is, the less its kernel moves while gradient descent (K = 1) fits the training set.",
        "a limit of infinite width",
        "exponent of kernel distance against channels, one-sided",
        0.0,
        _lazier,
    ),
    Claim(
        "E-WIDTH-2",
        "ours, after L theorem 3",
        "The wider the network is, the nearer lazy training (K = ∞) comes to K = 1.",
        "a limit of infinite width",
        "slope of the difference from K = 1 against log₂ of the channels, one-sided",
        0.0,
        _nearer,
    ),
    Claim(
        "E-WIDTH-3",
        "ours, after T §4.1",
        "What K = 10⁸ changes against K = 1 does not depend on width.",
        "one width, of 50 channels",
        "slope of the difference from K = 1 against log₂ of the channels, equivalence",
        POINT,
        _same_picture,
    ),
    Claim(
        "E-WIDTH-4",
        "T §4.1, fig. 3",
        "At the largest width, performance with K = 10⁸ drops below that of K = 1.",
        "significantly worse, with 50 channels",
        "difference of K = 10⁸ from K = 1 at the largest width, one-sided",
        POINT,
        partial(_widest_below, K=LARGE),
    ),
    Claim(
        "E-WIDTH-5",
        "T §4.1, fig. 4",
        "At the largest width, generalisation without any feature update (K = ∞) is worse than with K = 1.",
        "worse at every n, with 50 channels",
        "difference of the linear proxy of K = ∞ from the network of K = 1 at the largest width, one-sided",
        POINT,
        partial(_widest_below, K=LAZY),
    ),
)

FAMILIES = (Family("E-WIDTH", "width_runs", CLAIMS),)
