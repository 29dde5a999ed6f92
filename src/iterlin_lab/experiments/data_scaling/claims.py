"""The claims of E-DATA (T fig. 4, §4.1), on the columns of `data_scaling_runs`, paired by run.

Accuracies are validation-stopped and of the model that was trained. The model behind the rates is log error linear in
log n, with an intercept and a slope that vary over runs. As every run has every n and K, its estimate of a slope is the
mean of the slopes by least squares of single runs, and K are compared by paired t-tests of these.

Opposite to worse is no more than the margin worse, and to a flatter slope one that is not flatter by the margin.
"""

from functools import partial

import numpy as np
import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, below, equivalent, estimate, finite, points
from iterlin_lab.report.names import named
from iterlin_lab.statistics import p_above, p_below

LIMIT, LARGE, LAZY = 1e7, 1e8, np.inf
POINT, SLOPE = 0.01, 0.05
EXPONENT = "exponent"


def _at(runs: pd.DataFrame, K: float) -> pd.DataFrame:
    return runs[(runs["method"] == "gradient") & (runs["K"] == K)]


def _by_size(runs: pd.DataFrame, own: pd.DataFrame, column: str) -> pd.DataFrame | None:
    """A row a run and a column an n.

    None if one of these runs, or a run of K = 1, did not reach its own end. Lazy training is not expected to fit,
    so that only divergence counts there.
    """
    both = pd.concat([_at(runs, 1), own])
    cut_off = (both["outcome"] == "diverged") | ((both["outcome"] == "step_limit") & (both["K"] != LAZY))
    table = own.pivot(index="run", columns="n", values=column).dropna()
    return None if cut_off.any() or len(table) < MIN_RUNS else table


def _mean(runs: pd.DataFrame, own: pd.DataFrame, column: str) -> pd.Series | None:
    """The mean over n of each run; a slope is the same at all n."""
    table = _by_size(runs, own, column)
    return None if table is None else table.mean(axis=1)


def _same_rate(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """No evidence also if a single K up to the limit has runs that did not fit: the claim is on all of them."""
    found = {name: _mean(runs, own, "slope_difference") for name, own in finite(runs, LIMIT).items()}
    whole = {name: difference for name, difference in found.items() if difference is not None}
    evidence = equivalent(whole, margin, unit=EXPONENT) if len(whole) == len(found) else None
    return evidence and evidence._replace(text=_slopes(runs, whole))


def _flatter(runs: pd.DataFrame, margin: float, K: float) -> Evidence | None:
    difference = _mean(runs, _at(runs, K), "slope_difference")
    if difference is None:
        return None
    found = {named(K=K): difference}
    return Evidence(p_above(difference, 0), p_below(difference, margin), _slopes(runs, found), effects(found, EXPONENT))


def _slopes(runs: pd.DataFrame, differences: dict[str, pd.Series]) -> str:
    """In words, with 95 % t-intervals."""
    parts = [f"exponent {_at(runs, 1)['slope'].mean():.2f} at K = 1"]
    for name, values in differences.items():
        parts.append(f"difference of {name}: {estimate(values, '+.3f')}")
    return "; ".join(parts)


def _lazy_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """K = ∞ is below at all n (intersection-union); the opposite is that it is not at one of them (Bonferroni)."""
    table = _by_size(runs, _at(runs, LAZY), "difference")
    if table is None:
        return None
    differences = {f"n = {n}": table[n] for n in table}
    p_all = max(p_below(values, 0) for values in differences.values())
    p_one = min(p_above(values, -margin) for values in differences.values())
    text = "; ".join(f"{name}: {points(values)}" for name, values in differences.items())
    return Evidence(p_all, min(1, len(differences) * p_one), text, effects(differences))


def _large_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """At the largest n alone: a mean over n would hide what begins there."""
    table = _by_size(runs, _at(runs, LARGE), "difference")
    if table is None:
        return None
    evidence = below(table[table.columns.max()], margin)
    return evidence and evidence._replace(text=f"n = {table.columns.max()}: {evidence.text}")


def _control_same(runs: pd.DataFrame, margin: float) -> Evidence | None:
    difference = _mean(runs, runs[runs["method"] == "control"], "difference")
    return equivalent({} if difference is None else {"difference": difference}, margin)


CLAIMS = (
    Claim(
        "E-DATA-1",
        "T fig. 4, §4.1",
        "With more training data, all finite K up to 10⁷ improve at the rate of K = 1.",
        "the rate is equivalent for all finite K",
        "difference of the exponent of error against n from that of K = 1, for every 1 < K ≤ 10⁷, equivalence",
        SLOPE,
        _same_rate,
    ),
    Claim(
        "E-DATA-2",
        "T fig. 4, §4.1",
        "With no feature update at all (K = ∞) generalisation is worse than with K = 1 at every n.",
        "worse at every n",
        "difference of the linear proxy of K = ∞ from the network of K = 1, one-sided, at every n",
        POINT,
        _lazy_below,
    ),
    Claim(
        "E-DATA-3",
        "T fig. 4, §4.1",
        "K = ∞ also gains less from more training data than K = 1.",
        "scales poorly with dataset size",
        "difference of the exponent of error against n from that of K = 1, above 0, one-sided",
        SLOPE,
        partial(_flatter, K=LAZY),
    ),
    Claim(
        "E-DATA-4",
        "T fig. 4, §4.1",
        "K = 10⁸ begins to do worse than K = 1.",
        "begins to do worse, not run",
        "difference of K = 10⁸ from K = 1 at the largest n, one-sided",
        POINT,
        _large_below,
    ),
    Claim(
        "E-DATA-5",
        "T fig. 4",
        "K = 1 generalises the same at another, higher learning rate.",
        "not relevant to the comparison",
        "mean over n of the difference of the control from K = 1, equivalence",
        POINT,
        _control_same,
    ),
    Claim(
        "E-DATA-6",
        "T fig. 4, §4.1",
        "K = 10⁸ gains less from more training data than K = 1.",
        "begins to do worse, not run",
        "difference of the exponent of error against n from that of K = 1, above 0, one-sided",
        SLOPE,
        partial(_flatter, K=LARGE),
    ),
)

FAMILIES = (Family("E-DATA", "data_scaling_runs", CLAIMS),)
