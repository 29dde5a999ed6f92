"""The claim of E-AUG (T fig. 2), on test accuracies after all steps, paired by run.

T's phases of 5·10⁶ steps solve their linearised problems. What E-AUG, E-PROBE and E-FILTER say of a large K can
only be shown by phases that level off (`small_period`).
"""

import pandas as pd

from iterlin_lab.claims.evidence import Claim, Evidence, Family, alike

FINAL = "network_final"
POINT = 0.01
LATE = 0.05  # of the loss that a phase takes off, at most, in its second half


def small_period(runs: pd.DataFrame) -> str:
    """Why these runs have no K that is large, or nothing: then the proxy levels off within its first phase."""
    large = runs[runs["K"] == runs["K"].max()]
    late = large.loc[large["outcome"] != "diverged", "late_gain"].mean()
    if not late > LATE:
        return ""
    return (
        f"the largest K here is not large: the second half of its first phase still brings {late:.0%} of the "
        f"decrease of the proxy's training loss, where a phase that levels off brings {LATE:.0%} at most"
    )


def _as_gradient_descent(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    return small_period(runs) or alike(runs, FINAL, margin)


CLAIMS = (
    Claim(
        "E-AUG-1",
        "T fig. 2, §4.1",
        "With augmentation, a dozen feature updates are enough to end within a point of K = 1.",
        "81.4 % against 82.3 %",
        "difference of the large K from K = 1 after all steps, equivalence, where phases level off",
        POINT,
        _as_gradient_descent,
    ),
)

FAMILIES = (Family("E-AUG", "augmentation_runs", CLAIMS),)
