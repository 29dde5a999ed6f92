"""The claims of E-FILTER (T fig. 6, §4.1) and of B-NTK, on runs of K = 1 and of the large K, paired by run."""

import pandas as pd

from iterlin_lab.claims.effects import PERCENT, effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, any_diverged, equivalent, paired, points
from iterlin_lab.experiments.augmentation.claims import small_period
from iterlin_lab.statistics import p_above, p_below

FRACTION, AROUND = 0.2, 0.1
ABOVE_CHANCE = 0.1  # in the cosine
DISTANCE = "distance_ntk"


def _large(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of the large K; none if a run of it or of K = 1 diverged."""
    return runs[(runs["K"] > 1) & (not any_diverged(runs))]


def _of_large(runs: pd.DataFrame, columns: list[str]) -> pd.DataFrame | None:
    """These columns of its runs; None if one is missing, or there are too few."""
    values = _large(runs)[columns]
    return None if len(values) < MIN_RUNS or values.isna().to_numpy().any() else values


def _at_a_fifth(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    if reason := small_period(runs):
        return reason
    values = _of_large(runs, ["fraction"])
    if values is None:
        return None
    return equivalent(
        {f"fraction minus {FRACTION:.0%}, in % of training": values["fraction"] - FRACTION}, margin, unit=PERCENT
    )


def _above_chance(runs: pd.DataFrame, margin: float) -> Evidence | None:
    values = _of_large(runs, ["similarity", "null_largest"])
    if values is None:
        return None
    difference = values["similarity"] - values["null_largest"]
    text = f"largest cosine {values['similarity'].mean():.2f}, permuted {values['null_largest'].mean():.2f}"
    found = effects({"difference": difference}, "cosine")
    return Evidence(p_above(difference, 0), p_below(difference, margin), text, found)


def _moves_further(runs: pd.DataFrame, margin: float) -> Evidence | None:
    difference = paired(runs[runs["K"] == 1], _large(runs), DISTANCE)
    if difference is None:
        return None
    text, found = f"difference {points(difference)} hundredths", effects({"": difference}, "kernel distance")
    return Evidence(p_above(difference, 0), p_below(difference, margin), text, found)


CLAIMS = (
    Claim(
        "E-FILTER-1",
        "T fig. 6, §4.1",
        "The final filters of the large K are most like those of K = 1 at 20 % of training.",
        "about 20 %; A fig. 7 says 10 %",
        "fraction of training at which K = 1's change has the largest cosine with the final one, equivalence to 0.2",
        AROUND,
        _at_a_fifth,
    ),
    Claim(
        "E-FILTER-2",
        "T fig. 6, §4.1",
        "At that point the filters have changed alike, more than by chance.",
        "often similar",
        "largest cosine along training above that with the large K's filters permuted, paired, one-sided",
        ABOVE_CHANCE,
        _above_chance,
    ),
)

NTK_CLAIMS = (
    Claim(
        "B-NTK-1",
        "ours, after T §4.1",
        "By the end the empirical NTK of K = 1 has moved further from initialisation than that of the large K.",
        "not measured",
        "difference of the kernel distance at the end, K = 1 minus the large K, paired, one-sided",
        0.0,
        _moves_further,
    ),
)

FAMILIES = (
    Family("E-FILTER", "filters_runs", CLAIMS),
    Family("B-NTK", "filters_runs", NTK_CLAIMS),
)
