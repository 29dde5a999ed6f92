"""The claims of E-XOR (T fig. 7, §4.2 and §4.3), on runs with the same data and initialisation along both dials.

K = ∞ is in no test: it is not expected to fit, as its network is not what is trained.
"""

import math

import numpy as np
import pandas as pd

from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, alike, trend
from iterlin_lab.report.names import named
from iterlin_lab.statistics import p_above, p_below

RANDOM = 4 / math.pi * math.sin(math.pi / 4)  # mean alignment of isotropic directions: 0.900
ACCURACY = "network_test_accuracy"
POINT = 0.01


def _fitted(runs: pd.DataFrame, dial: str) -> pd.DataFrame | None:
    """The runs of a dial, `K` or `damping`, if all of them came to fit the training set."""
    rows = runs[np.isfinite(runs[dial])]
    return rows if (rows["outcome"] == "fitted").all() else None


def _by_value(runs: pd.DataFrame, dial: str) -> pd.DataFrame | None:
    """Mean alignment, a row a run and a column a value, from little feature learning to much: K falls, or λ rises."""
    rows = _fitted(runs, dial)
    if rows is None:
        return None
    table = rows.pivot(index="run", columns=dial, values="alignment")
    return table.sort_index(axis=1, ascending=dial == "damping")


def _rises(runs: pd.DataFrame, dial: str) -> Evidence | None:
    table = _by_value(runs, dial)
    if table is None:
        return None
    means = (f"{named(**{dial: value})}: {table[value].mean():.3f}" for value in table.columns.to_numpy())
    return trend(table, f"mean alignment {'; '.join(means)}")


def _above_random(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The alignment at K = 1, where T has most feature learning, is above that of random directions."""
    table = _by_value(runs, "K")
    if table is None or len(table) < MIN_RUNS:
        return None
    values = table[1]
    initial = runs.loc[runs["K"] == 1, "alignment_initial"].mean()
    text = f"mean alignment at K = 1: {values.mean():.3f}, at initialisation {initial:.3f}, of random directions "
    return Evidence(p_above(values, RANDOM), p_below(values, RANDOM + margin), f"{text}{RANDOM:.3f}")


def _same_accuracy(runs: pd.DataFrame, margin: float) -> Evidence | None:
    rows = _fitted(runs, "K")
    return None if rows is None else alike(rows, ACCURACY, margin)


CLAIMS = (
    Claim(
        "E-XOR-1",
        "T fig. 7, §4.2",
        "The features of the XOR network are less aligned with the clusters the larger K is.",
        "the same degradation in feature quality with increased K",
        "mean alignment falls over the finite K, Page's test",
        0.0,
        lambda runs, margin: _rises(runs, "K"),
    ),
    Claim(
        "E-XOR-2",
        "T fig. 7, §4.3",
        "The features of the XOR network are less aligned with the clusters the smaller the damping λ is.",
        "a similar change",
        "mean alignment falls with λ, Page's test",
        0.0,
        lambda runs, margin: _rises(runs, "damping"),
    ),
    Claim(
        "E-XOR-3",
        "T fig. 7, eq. 11",
        "At K = 1 the features are better aligned with the clusters than random directions are.",
        "drawn, without a number",
        "mean alignment at K = 1 above (4/π)·sin 45° = 0.900, one-sided",
        POINT,
        _above_random,
    ),
    Claim(
        "E-XOR-4",
        "T §4.2",
        "On XOR data the accuracy does not fall with K, though the features do.",
        "the performance does not degrade",
        "difference from K = 1 for every finite K > 1, equivalence",
        POINT,
        _same_accuracy,
    ),
)

FAMILIES = (Family("E-XOR", "xor_runs", CLAIMS),)
