"""The claims of E-QUAD, paired by run."""

import math

import pandas as pd

from iterlin_lab.claims.effects import PERCENT, effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, above, any_diverged, equivalent, paired
from iterlin_lab.experiments.quadratic.settings import NETWORK
from iterlin_lab.statistics import p_above, p_below

MARGIN = 0.02


def _of(runs: pd.DataFrame, order: int) -> pd.DataFrame:
    return runs[runs["order"] == order]


def _nearer(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The geometric mean of d_2/d_1 is below 1, or above it."""
    values = _of(runs, 2).set_index("run")["log_test_distance_ratio"].dropna()
    if len(values) < MIN_RUNS:
        return None
    found = effects({"": values.map(math.expm1)}, PERCENT)
    text = f"distance of order 2 over that of order 1: {math.exp(values.mean()):.2f} (geometric mean)"
    return Evidence(p_below(values, margin), p_above(values, margin), text, found)


def _better(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    first, second = _of(runs, 1), _of(runs, 2)
    if any_diverged(first, second):
        return "a run of an expansion diverged"
    return above(paired(second, first, "accuracy"), margin)


def _as_network(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    second, network = _of(runs, 2), _of(runs, NETWORK)
    if any_diverged(second, network):
        return "a run of the quadratic expansion diverged"
    values = paired(second, network, "accuracy")
    return None if values is None else equivalent({"order 2": values}, margin)


CLAIMS = (
    Claim(
        "E-QUAD-1",
        "ours, after T §6",
        "A phase of the quadratic expansion stays nearer to the network than a phase of the linear one.",
        "not run",
        "log of the ratio of distances between outputs on test data, mean over log K, one-sided",
        0.0,
        _nearer,
    ),
    Claim(
        "E-QUAD-2",
        "ours, after T §6",
        "With no feature update the quadratic expansion generalises better than the linear one.",
        "not run",
        "difference of validation-stopped accuracies, one-sided",
        0.0,
        _better,
    ),
    Claim(
        "E-QUAD-3",
        "ours, after T §6",
        "With no feature update the quadratic expansion generalises as the network does.",
        "not run",
        "difference of validation-stopped accuracies, equivalence",
        MARGIN,
        _as_network,
    ),
)

FAMILIES = (Family("E-QUAD", "quadratic_runs", CLAIMS),)
