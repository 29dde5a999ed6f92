"""The claims of E-VIT, on the columns of `vit_runs`, paired by run.

Accuracies are validation-stopped and of the model that was trained. The margin is that of E-SWEEP, one point.
"""

import math

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import (
    Claim,
    Evidence,
    Family,
    alike,
    any_diverged,
    below,
    estimate,
    finite,
    paired,
)
from iterlin_lab.statistics import p_above, p_below

POINT = 0.01


def _at(runs: pd.DataFrame, K: float) -> pd.DataFrame:
    return runs[runs["K"] == K]


def _lazy_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    lazy, one = _at(runs, math.inf), _at(runs, 1)
    return None if any_diverged(lazy, one) else below(paired(lazy, one, "accuracy"), margin)


def _moves_further(runs: pd.DataFrame, margin: float) -> Evidence | None:
    one, (*_, large) = _at(runs, 1), (None, *finite(runs).values())
    difference = None if large is None or any_diverged(one, large) else paired(one, large, "kernel_distance")
    if difference is None:
        return None
    text, found = f"difference {estimate(difference, '+.3f')}", effects({"": difference}, "kernel distance")
    return Evidence(p_above(difference, 0), p_below(difference, margin), text, found)


CLAIMS = (
    Claim(
        "E-VIT-1",
        "ours, after T §4.1",
        "A transformer that is trained with a large finite K performs about the same as with K = 1.",
        "not run",
        "difference of the network from K = 1 for every finite K > 1, equivalence",
        POINT,
        lambda runs, margin: alike(runs, "accuracy", margin),
    ),
    Claim(
        "E-VIT-2",
        "ours, after T §4.1",
        "With no feature update at all (K = ∞) a transformer generalises worse than with K = 1.",
        "not run",
        "difference of the linear proxy of K = ∞ from the network of K = 1, one-sided",
        POINT,
        _lazy_below,
    ),
    Claim(
        "E-VIT-3",
        "ours, after T §4.1",
        "By the end the NTK of K = 1 has moved further from initialisation than that of the largest finite K.",
        "not run",
        "difference of the kernel distance at the end, K = 1 minus the largest finite K, one-sided",
        0.0,
        _moves_further,
    ),
)

FAMILIES = (Family("E-VIT", "vit_runs", CLAIMS),)
