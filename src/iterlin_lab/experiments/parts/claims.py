"""The claims of E-PART, on the columns of `parts_runs`, paired by run.

Accuracies are validation-stopped and of the model that was trained. The last layer alone makes a model that is linear
in what is trained, so that K changes nothing there: a gain of K = 1 starts from zero.

More is more by the margin, and its opposite less than that. The last layer is not expected to fit, nor is lazy
training, so that only divergence counts.
"""

import math
from functools import partial

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import Claim, Evidence, Family, any_diverged, paired, points, trend
from iterlin_lab.statistics import p_above, p_below

LAZY = math.inf
MARGIN = 0.05


def _more(runs: pd.DataFrame, margin: float, K: float) -> Evidence | None:
    """All layers against the last alone."""
    own = runs[runs["K"] == K]
    head, whole = own[own["layers"] == 1], own[own["trained_parameters"] == own["parameters"]]
    difference = None if any_diverged(head, whole) else paired(whole, head, "accuracy")
    if difference is None:
        return None
    text, found = f"difference {points(difference)}", effects({"": difference})
    return Evidence(p_above(difference, margin), p_below(difference, margin), text, found)


def _grows(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The gain of K = 1 over lazy training rises along the numbers of layers, in their order."""
    both = runs[runs["K"].isin([1, LAZY])]
    gains = both[both["K"] == LAZY].pivot(index="run", columns="layers", values="gain").sort_index(axis=1)
    text = "; ".join(f"layers = {count}: {points(gains[count])}" for count in gains)
    return None if any_diverged(both) else trend(gains, f"gain, {text}")


CLAIMS = (
    Claim(
        "E-PART-1",
        "ours, after T eq. 19",
        "Lazy training (K = ∞) of all layers reaches more than that of the last layer alone.",
        "the NTK is a sum over all layers",
        "difference of the proxy of all layers from that of the last alone, above five points, one-sided",
        MARGIN,
        partial(_more, K=LAZY),
    ),
    Claim(
        "E-PART-2",
        "ours, after T §4.1",
        "Gradient descent (K = 1) on all layers reaches more than on the last layer alone.",
        "features are learnt",
        "difference of the network of all layers from that of the last alone, above five points, one-sided",
        MARGIN,
        partial(_more, K=1),
    ),
    Claim(
        "E-PART-3",
        "ours, after T §4.1",
        "What K = 1 gains over lazy training grows with the part of the network that is trained.",
        "not run",
        "difference of K = 1 from K = ∞ against the number of layers that are trained, Page's test of a trend",
        0.0,
        _grows,
    ),
)

FAMILIES = (Family("E-PART", "parts_runs", CLAIMS),)
