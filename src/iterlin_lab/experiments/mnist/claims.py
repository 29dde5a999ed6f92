"""The claims of E-MNIST (W fig. 1, §3), on accuracies of the model that is trained, paired by run.

Curves are the same if they are nowhere more than five points apart, which is what W's figure lets one see.
"""

import numpy as np
import pandas as pd

from iterlin_lab.claims.effects import PERCENT, effects
from iterlin_lab.claims.evidence import Claim, Evidence, Family, alike, any_diverged, apart, finite, paired, points
from iterlin_lab.statistics import p_above, p_below

TRAINED = "proxy_final"
COINCIDE = 100
CURVES, END, LATE, ALMOST = 0.05, 0.004, 0.1, 0.99


def _one(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["K"] == 1]


def _same_curves(runs: pd.DataFrame, margin: float) -> Evidence | None:
    others = finite(runs, COINCIDE)
    if any_diverged(_one(runs), *others.values()):
        return None
    return apart({name: rows["largest_gap"] for name, rows in others.items()}, margin)


def _largest(runs: pd.DataFrame, column: str) -> pd.Series | None:
    """`column` of the runs of the largest finite K; None if one of them lacks it or diverged."""
    between = runs[(runs["K"] > 1) & np.isfinite(runs["K"])]
    own = between[between["K"] == between["K"].max()]
    return None if own.empty or any_diverged(own) or own[column].isna().any() else own[column]


def _levels_off(runs: pd.DataFrame, margin: float) -> Evidence | None:
    late = _largest(runs, "late_gain")
    if late is None:
        return None
    text, found = f"part of the gain {points(late)} %", effects({"": late}, PERCENT)
    return Evidence(p_below(late, margin), p_above(late, margin), text, found)


def _few_updates(runs: pd.DataFrame, margin: float) -> Evidence | None:
    accuracy = _largest(runs, "after_two")
    if accuracy is None:
        return None
    text, found = f"training accuracy {points(accuracy)} %", effects({"": accuracy}, PERCENT)
    return Evidence(p_above(accuracy, margin), p_below(accuracy, margin), text, found)


def _lazy_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    one, lazy = _one(runs), runs[np.isinf(runs["K"])]
    difference = None if any_diverged(one, lazy) else paired(lazy, one, TRAINED)
    if difference is None:
        return None
    text, found = f"difference {points(difference)}", effects({"": difference})
    return Evidence(p_below(difference, -margin), p_above(difference, -margin), text, found)


CLAIMS = (
    Claim(
        "E-MNIST-1",
        "W fig. 1, §3",
        "Up to K = 100 all K follow almost the same learning curve.",
        "almost the exact same",
        "largest gap of a test curve from that of K = 1, for every 1 < K ≤ 100, at most five points",
        CURVES,
        _same_curves,
    ),
    Claim(
        "E-MNIST-2",
        "W §3",
        "All finite K end within 0.4 points of K = 1.",
        "within 0.4 %",
        "difference from K = 1 after all steps for every finite K, equivalence",
        END,
        lambda runs, margin: alike(runs, TRAINED, margin),
    ),
    Claim(
        "E-MNIST-3",
        "W §3",
        "At the largest finite K training levels off before the features are updated.",
        "levels off each time",
        "part of the first phase's gain in training accuracy that its second half brings, below a tenth",
        LATE,
        _levels_off,
    ),
    Claim(
        "E-MNIST-4",
        "W §3",
        "Two feature updates are enough for nearly 100 % on the training set.",
        "close to 100 %",
        "training accuracy at the largest finite K, at the last record before the third feature update, above 99 %",
        ALMOST,
        _few_updates,
    ),
    Claim(
        "E-MNIST-5",
        "W §3",
        "Lazy training (K = ∞) ends further below K = 1 than that.",
        "all except K = ∞",
        "difference of the proxy of K = ∞ from the network of K = 1, below −0.4 points, one-sided",
        END,
        _lazy_below,
    ),
)

FAMILIES = (Family("E-MNIST", "mnist_runs", CLAIMS),)
