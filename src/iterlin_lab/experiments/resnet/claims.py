"""The claims of E-RESNET (T fig. 10, §4.1), run by run on the same draw of the data.

The panels are compared after all steps. For the grid there is a number a draw: the share of its runs that diverged with
BatchNorm, minus the share without it. That it is positive in more than half of the draws is an exact binomial test,
which asks nothing of how the runs of one draw depend on each other. Draws without a difference do not count.
"""

from functools import partial

import pandas as pd

from iterlin_lab.claims.evidence import Claim, Evidence, Family, alike, in_most

POINT, HALF = 0.01, 0.5


def _close(runs: pd.DataFrame, margin: float, panel: str) -> Evidence | None:
    return alike(runs[runs["method"] == panel], "network_final", margin)


def _more_diverge(runs: pd.DataFrame, share: float, norm: str, than: str) -> Evidence | None:
    """More runs of a draw diverge with one norm than with the other, over all η and K."""
    diverged = (runs["outcome"] == "diverged").astype(float)
    shares = diverged.groupby([runs["run"], runs["method"]]).mean().unstack()
    if not {norm, than} <= set(shares):
        return None
    difference = shares[norm] - shares[than]
    text = f"{shares[norm].mean():.0%} against {shares[than].mean():.0%} of the runs diverged"
    return in_most(difference[difference != 0], share, text)


PANELS = (
    Claim(
        "E-RESNET-1",
        "T fig. 10, §4.1",
        "Without BatchNorm and augmentation, a ResNet trained with a large K ends within a point of K = 1.",
        "similar test performance; shown, not measured",
        "difference of the large K from K = 1 after all steps, equivalence",
        POINT,
        partial(_close, panel="plain"),
    ),
    Claim(
        "E-RESNET-2",
        "T fig. 10, §4.1",
        "With BatchNorm and augmentation too.",
        "similar test performance, with a smaller K",
        "difference of the large K from K = 1 after all steps, equivalence",
        POINT,
        partial(_close, panel="normalised"),
    ),
)

GRID = (
    Claim(
        "E-RESNET-3",
        "T fig. 10",
        "Runs with BatchNorm diverge more easily than runs without it.",
        "far more likely to diverge; shown by a smaller K",
        "share of a draw's runs that diverged, with BatchNorm above without it, in most draws",
        HALF,
        partial(_more_diverge, norm="batch", than="none"),
    ),
    Claim(
        "E-RESNET-4",
        "ours, after T fig. 10",
        "The linearised normalisation is the cause: with statistics frozen at θ_s fewer runs diverge.",
        "named as the cause, not run",
        "share of a draw's runs that diverged, with batch statistics above frozen ones, in most draws",
        HALF,
        partial(_more_diverge, norm="batch", than="frozen"),
    ),
)

FAMILIES = (Family("E-RESNET, panels", "resnet_runs", PANELS), Family("E-RESNET, grid", "resnet_grid_runs", GRID))
