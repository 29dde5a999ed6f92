"""The claims of E-MNIST (W fig. 1, §3), on accuracies after all steps, paired by run.

Curves are the same if they are nowhere more than five points apart, which is what W's figure lets one see.
"""

import pandas as pd

from iterlin_lab.claims.verdicts import Claim, Evidence, Family, any_diverged, apart, equivalent, paired, points
from iterlin_lab.settings import parse_period
from iterlin_lab.statistics import p_above, p_below

TRAINED = "trained"  # accuracy of the model that was: the network, or for K = ∞ its proxy
COINCIDE = 100
CURVES, END, LATE, ALMOST = 0.05, 0.004, 0.1, 0.99


def _finite(runs: pd.DataFrame, largest: float = float("inf")) -> list[str]:
    cells = [cell for cell in dict.fromkeys(runs["cell"]) if cell not in ("1", "inf")]
    return [cell for cell in cells if parse_period(cell) <= largest]


def _same_curves(runs: pd.DataFrame, margin: float) -> Evidence | None:
    cells = _finite(runs, COINCIDE)
    if any_diverged(runs, ["1", *cells]):
        return None
    return apart({f"K = {cell}": runs.loc[runs["cell"] == cell, "largest_gap"] for cell in cells}, margin)


def _same_end(runs: pd.DataFrame, margin: float) -> Evidence | None:
    cells = _finite(runs)
    if any_diverged(runs, ["1", *cells]):
        return None
    differences = {f"K = {cell}": paired(runs, cell, TRAINED, ("1", TRAINED)) for cell in cells}
    return equivalent({name: d for name, d in differences.items() if d is not None}, margin)


def _largest(runs: pd.DataFrame, column: str) -> pd.Series | None:
    """`column` of the runs of the largest finite K; None if one of them lacks it or diverged."""
    cell = max(_finite(runs), key=parse_period, default=None)
    if cell is None or any_diverged(runs, [cell]):
        return None
    values = runs.loc[runs["cell"] == cell, column]
    return None if values.isna().any() else values


def _levels_off(runs: pd.DataFrame, margin: float) -> Evidence | None:
    late = _largest(runs, "late_gain")
    if late is None:
        return None
    return Evidence(p_below(late, margin), p_above(late, margin), f"part of the gain {points(late)} %")


def _few_updates(runs: pd.DataFrame, margin: float) -> Evidence | None:
    accuracy = _largest(runs, "train_accuracy_after_two")
    if accuracy is None:
        return None
    return Evidence(p_above(accuracy, margin), p_below(accuracy, margin), f"training accuracy {points(accuracy)} %")


def _lazy_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    difference = None if any_diverged(runs, ["1", "inf"]) else paired(runs, "inf", TRAINED, ("1", TRAINED))
    if difference is None:
        return None
    return Evidence(p_below(difference, -margin), p_above(difference, -margin), f"difference {points(difference)}")


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
        _same_end,
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
