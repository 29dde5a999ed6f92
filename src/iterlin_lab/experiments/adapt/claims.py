"""The claims of E-ADAPT, on validation-stopped accuracies, paired by run; and on which η diverge."""

from functools import partial

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, above, in_most, paired, points
from iterlin_lab.statistics import p_above, p_below
from iterlin_lab.tables.summaries import COMPARED

MARGIN = 0.02
HALF = 0.5


def _better(runs: pd.DataFrame, margin: float, schedule: str, column: str) -> Evidence | None:
    """Above fixed K at equal cost; the opposite is below it. Runs that did not fit count with what they reached."""
    values = runs[runs["method"] == schedule].set_index("run")[column].dropna()
    return above(values, margin) if len(values) >= MIN_RUNS else None


def _fewer(runs: pd.DataFrame, margin: float, schedule: str) -> Evidence | None:
    """Intersection–union: no less accurate than the reference K by the margin, with fewer updates; or one is wrong."""
    own, reference = runs[runs["method"] == schedule], runs[runs["reference"]]
    accuracy, updates = paired(own, reference, COMPARED), paired(own, reference, "log_updates")
    if accuracy is None or updates is None:
        return None
    medians = (rows["feature_updates"].median() for rows in (own, reference))
    text = "accuracy {}, feature updates {:g} against {:g} (medians)".format(points(accuracy), *medians)
    p_for = max(p_above(accuracy, -margin), p_below(updates, 0))
    p_against = min(1, 2 * min(p_below(accuracy, -margin), p_above(updates, 0)))
    return Evidence(p_for, p_against, text, effects({"": accuracy}))


def _stable(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    """In a draw it holds where some fixed K > 1 diverges at some η, and the schedule at none."""
    diverged = runs.assign(diverged=runs["outcome"] == "diverged").groupby(["run", "method", "K"], dropna=False)
    some = diverged["diverged"].any().reset_index()
    fixed = some[some["K"] > 1].groupby("run")["diverged"].any()
    watching = some[some["method"] == "watching"].set_index("run")["diverged"]
    if not fixed.any():
        return "no run of a fixed K > 1 diverged"
    text = f"fixed K > 1 diverged at some η in {fixed.sum()} draws, the schedule in {watching.sum()}"
    return in_most((fixed & ~watching).astype(float), margin, text)


UPDATES, EVALUATIONS = "at_equal_feature_updates", "at_equal_evaluations"
SCHEDULES = (
    Claim(
        "E-ADAPT-1",
        "ours, after T §6",
        "Updating features when the linearisation error is large generalises better than as many updates of a fixed K.",
        "future work",
        "difference of the schedule from fixed K, interpolated at equal numbers of feature updates, one-sided",
        0.0,
        partial(_better, schedule="error", column=UPDATES),
    ),
    Claim(
        "E-ADAPT-2",
        "ours, after T §6",
        "It also does at the cost of as many evaluations of the gradient.",
        "future work",
        "difference of the schedule from fixed K, interpolated at equal numbers of evaluations, one-sided",
        0.0,
        partial(_better, schedule="error", column=EVALUATIONS),
    ),
    Claim(
        "E-ADAPT-3",
        "ours, after T §6",
        "A trust region reaches the accuracy of a good fixed K with fewer feature updates.",
        "future work",
        "no more than two points below the reference K, and fewer updates, both one-sided",
        MARGIN,
        partial(_fewer, schedule="ratio"),
    ),
    Claim(
        "E-ADAPT-4",
        "ours, after T §6",
        "Short phases first: K that grows generalises better than as many updates of a fixed K.",
        "future work",
        "difference of K that grows from fixed K, interpolated at equal numbers of feature updates, one-sided",
        0.0,
        partial(_better, schedule="growing", column=UPDATES),
    ),
)

DAMPED = (
    Claim(
        "E-ADAPT-6",
        "ours, after T §6",
        "Damping that adapts (Levenberg–Marquardt) reaches the accuracy of a good fixed K with fewer feature updates.",
        "future work",
        "no more than two points below the reference K, and fewer updates, both one-sided",
        MARGIN,
        partial(_fewer, schedule="damped"),
    ),
)

GRID = (
    Claim(
        "E-ADAPT-5",
        "ours, after W §4",
        "A schedule that watches the linearisation error diverges at no η of a grid on which fixed K do.",
        "future work",
        "some fixed K > 1 diverges at some η, and the schedule at none, in most draws",
        HALF,
        _stable,
    ),
)

FAMILIES = (
    Family("E-ADAPT", "adapt_runs", SCHEDULES),
    Family("E-ADAPT, damping", "adapt_runs", DAMPED),
    Family("E-ADAPT, grid", "adapt_grid_runs", GRID),
)
