"""The claims of E-BATCH (T fig. 11), on test accuracies after all steps, paired by run.

Curves are the same if they are nowhere more than five points apart, which is what T's figure lets one see. Ends are
compared where all runs have converged: where their training loss is at most `fit_loss`.
"""

from functools import partial

import numpy as np
import pandas as pd

from iterlin_lab.claims.evidence import Claim, Evidence, Family, alike, any_diverged, apart
from iterlin_lab.report.names import named

FINAL = "network_final"
CURVES, POINT = 0.05, 0.01


def _as_gradient_descent(runs: pd.DataFrame, margin: float, way: str) -> Evidence | str | None:
    own = runs[(runs["method"] == way) & np.isfinite(runs["K"])]
    if any_diverged(own):
        return None
    short = own[own["network_train_loss"] > own["fit_loss"]]
    if len(short):
        return f"{len(short)} of {len(own)} runs have not converged: raise batches.num_steps"
    return alike(own, FINAL, margin)


def _aligned(runs: pd.DataFrame, margin: float) -> Evidence | None:
    if any_diverged(runs):
        return None
    mini = runs[runs["method"] == "mini"]
    return apart({named(K=K): mini.loc[mini["K"] == K, "largest_gap"] for K in mini["K"].unique()}, margin)


CLAIMS = (
    Claim(
        "E-BATCH-1",
        "T fig. 11, left",
        "On full batches large K reaches about the accuracy of K = 1.",
        "about the same",
        "difference from K = 1 after all steps for every finite K, equivalence",
        POINT,
        partial(_as_gradient_descent, way="full"),
    ),
    Claim(
        "E-BATCH-2",
        "T fig. 11, centre",
        "On mini-batches large K reaches about the accuracy of K = 1.",
        "about the same",
        "difference from K = 1 after all steps for every finite K, equivalence",
        POINT,
        partial(_as_gradient_descent, way="mini"),
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
