"""The claims of L-KRR (L theorem 1), in the middle of the plateaus, n = d^(l + ½), and around a step.

Errors are in units of ‖f*‖² = 1. The theorem is one of d → ∞: a plateau is compared at the largest d that reaches it.
"""

from functools import partial

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, estimate, trend
from iterlin_lab.statistics import within

MARGIN = 0.1  # half of the lowest step of the staircase
MIDDLE = 0.5  # of a plateau, in log n / log d
AROUND = (0.75, 1.25)  # the first step, at n = d


def _on_plateaus(runs: pd.DataFrame, margin: float, kernel: str) -> Evidence | None:
    """The errors lie on every plateau at once (intersection-union); the opposite is that one is missed (Bonferroni)."""
    gaps, middle = {}, runs[(runs["kernel"] == kernel) & (runs["exponent"] % 1 == MIDDLE)]
    for degree, rows in middle.groupby("degree"):
        largest = rows["dimension"].max()
        gaps[f"l = {degree} at d = {largest}"] = rows.loc[rows["dimension"] == largest, "gap"]
    if not gaps or min(map(len, gaps.values())) < MIN_RUNS:
        return None
    inside, outside = zip(*(within(gap, -margin, margin) for gap in gaps.values()), strict=True)
    text = "; ".join(f"{name}: {estimate(gap, '+.3f')}" for name, gap in gaps.items())
    p_outside = min(1, len(gaps) * min(outside))
    return Evidence(max(inside), p_outside, f"test error minus ‖P_{{>l}} f*‖², {text}", effects(gaps, "parts of ‖f*‖²"))


def _closer(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """|gap| over falling d, of the mean of both kernels: run i of one d has nothing to do with run i of another."""
    on_it = runs[runs["exponent"] == 1 + MIDDLE]
    table = on_it.groupby(["run", "dimension"])["gap"].mean().abs().unstack().sort_index(axis=1, ascending=False)
    found = ", ".join(f"{value:.3f} at d = {dimension}" for dimension, value in table.mean().items())
    return trend(table, f"mean distance of the test error from ‖P_{{>1}} f*‖²: {found}")


def _steeper(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The fall of the error over rising d, as a mean over both kernels."""
    around = (
        runs[runs["exponent"].isin(AROUND)].groupby(["run", "dimension", "exponent"])["test_error"].mean().unstack()
    )
    if not set(AROUND) <= set(around.columns):
        return None
    table = (around[AROUND[0]] - around[AROUND[1]]).unstack()
    found = ", ".join(f"{value:.3f} at d = {dimension}" for dimension, value in table.mean().items())
    return trend(table, f"mean fall: {found}")


CLAIMS = (
    *(
        Claim(
            f"L-KRR-{number}",
            "L theorem 1",
            f"For d^l ≪ n ≪ d^(l+1), ridge regression with the {kernel} kernel has the test loss ‖P_{{>l}} f*‖².",
            "‖P_{>l} f*‖² + o(1)",
            "test error minus the plateau at n = d^(l + ½), for every l at the largest d, equivalence",
            MARGIN,
            partial(_on_plateaus, kernel=kernel),
        )
        for number, kernel in enumerate(("RF", "NT"), start=1)
    ),
    Claim(
        "L-KRR-3",
        "L theorem 1",
        "The difference from the plateau vanishes as d grows.",
        "o_d(1)",
        "trend over falling d of |test error − plateau| at l = 1 (Page)",
        0.0,
        _closer,
    ),
    Claim(
        "L-KRR-4",
        "L theorem 1",
        "The loss falls in steps: as d grows, more and more of the fall from l = 0 to l = 1 is near n = d.",
        "plateaus",
        "trend over d of the fall from n = d^0.75 to d^1.25, which is E_1 in the limit (Page)",
        0.0,
        _steeper,
    ),
)

FAMILIES = (Family("L-KRR", "staircase_runs", CLAIMS),)
