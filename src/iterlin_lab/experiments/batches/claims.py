"""The claims of E-BATCH (T fig. 11), on test accuracies after all steps, paired by run.

Curves are the same if they are nowhere more than five points apart, which is what T's figure lets one see.
"""

import pandas as pd

from iterlin_lab.claims.verdicts import Claim, Evidence, Family, any_diverged, apart, equivalent, paired

FINAL = "network_final"
CURVES, POINT = 0.05, 0.01


def _periods(runs: pd.DataFrame, way: str) -> list[str]:
    cells = (cell for cell in dict.fromkeys(runs["cell"]) if cell.startswith(f"{way}-"))
    return [cell.removeprefix(f"{way}-") for cell in cells]


def _as_gradient_descent(runs: pd.DataFrame, way: str, margin: float) -> Evidence | None:
    periods = [period for period in _periods(runs, way) if period not in ("1", "inf")]
    if any_diverged(runs, [f"{way}-{period}" for period in ("1", *periods)]):
        return None
    reference = (f"{way}-1", FINAL)
    differences = {f"K = {period}": paired(runs, f"{way}-{period}", FINAL, reference) for period in periods}
    return equivalent({name: d for name, d in differences.items() if d is not None}, margin)


def _aligned(runs: pd.DataFrame, margin: float) -> Evidence | None:
    periods = _periods(runs, "mini")
    if any_diverged(runs, [f"{way}-{period}" for way in ("full", "mini") for period in periods]):
        return None
    gaps = {f"K = {period}": runs.loc[runs["cell"] == f"mini-{period}", "largest_gap"] for period in periods}
    return apart(gaps, margin)


CLAIMS = (
    Claim(
        "E-BATCH-1",
        "T fig. 11, left",
        "On full batches large K reaches about the accuracy of K = 1.",
        "about the same",
        "difference from K = 1 after all steps for every finite K, equivalence",
        POINT,
        lambda runs, margin: _as_gradient_descent(runs, "full", margin),
    ),
    Claim(
        "E-BATCH-2",
        "T fig. 11, centre",
        "On mini-batches large K reaches about the accuracy of K = 1.",
        "about the same",
        "difference from K = 1 after all steps for every finite K, equivalence",
        POINT,
        lambda runs, margin: _as_gradient_descent(runs, "mini", margin),
    ),
    Claim(
        "E-BATCH-3",
        "T fig. 11, right",
        "At equal ηt and ηK mini-batches follow full batches.",
        "aligned curves",
        "largest gap of a test curve on mini-batches from that on full ones, for every K, at most five points",
        CURVES,
        _aligned,
    ),
)

FAMILIES = (Family("E-BATCH", "batches_runs", CLAIMS),)
