"""The claims of E-PROBE (T fig. 5, §4.2), on test accuracies of linear probes, paired by run.

What T says of the features as a whole is read in layer 2, the last one that has a probe. Opposite to lower is no more
than a point lower, and to later no more than a quarter later.
"""

import math
from collections.abc import Callable

import pandas as pd

from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, any_diverged, below, paired
from iterlin_lab.experiments.augmentation.claims import small_period
from iterlin_lab.statistics import interval, p_above, p_below

LAYERS = ("layer1", "layer2")
LAST = LAYERS[-1]
POINT = 0.01
LATER = 0.25
PART, SAID = 0.5, 0.2  # of training


def _large(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of the large K; none if a run of it or of K = 1 diverged or has a probe that did not converge."""
    whole = not any_diverged(runs) and bool(runs["converged"].all())
    return runs[(runs["K"] > 1) & whole]


def _difference(runs: pd.DataFrame, column: str) -> pd.Series | None:
    return paired(_large(runs), runs[runs["K"] == 1], column)


def _later(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """In both layers (intersection-union); the opposite is that it is not later in one of them (Bonferroni).

    A layer of too few runs in which training raised the accuracy tells nothing.
    """
    large = _large(runs)
    if len(large) < MIN_RUNS:
        return None
    logs = {layer: large[f"{layer}_delay"].map(math.log).dropna() for layer in LAYERS}
    told = [values for values in logs.values() if len(values) >= MIN_RUNS]
    p_both = max(p_above(values, 0) for values in told) if len(told) == len(LAYERS) else 1.0
    p_one = len(LAYERS) * min((p_below(values, math.log1p(margin)) for values in told), default=1.0)
    text = "; ".join(
        f"{layer}: {_factor(values)}, {len(values)} of {len(large)} runs" for layer, values in logs.items()
    )
    return Evidence(p_both, min(1, p_one), f"where training raised the accuracy, {text.replace('layer', 'layer ')}")


def _factor(logs: pd.Series) -> str:
    if len(logs) < MIN_RUNS:
        return "too few"
    mean, low, high = (math.exp(value) for value in interval(logs))
    return f"{mean:.2f} [{low:.2f}, {high:.2f}] times as many steps"


def _lower(runs: pd.DataFrame, margin: float) -> Evidence | None:
    return below(_difference(runs, f"{LAST}_final"), margin)


def _early(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """A run in which K = 1 does not get there counts as 1."""
    fraction = _large(runs)[f"{LAST}_fraction"]
    if len(fraction) < MIN_RUNS:
        return None
    mean, low, high = (min(1, max(0, value)) for value in interval(fraction))
    within = "contains" if low <= SAID <= high else "excludes"
    text = (
        f"after {mean:.0%} [{low:.0%}, {high:.0%}] of training, which {within} {SAID:.0%}; "
        f"in {(fraction >= 1).sum()} of {len(fraction)} runs not before its end"
    )
    return Evidence(p_below(fraction, margin), p_above(fraction, margin), text)


def _less_an_update(runs: pd.DataFrame, margin: float) -> Evidence | None:
    difference = _difference(runs, f"{LAST}_first")
    return below(None if difference is None else -difference, margin)


def _less_a_step(runs: pd.DataFrame, margin: float) -> Evidence | None:
    large = _large(runs)
    return below(paired(large, large, f"{LAST}_first", f"{LAST}_one_first"), margin)


def _of_a_large_period(test: Callable[[pd.DataFrame, float], Evidence | None]) -> Callable:
    """The test, where phases level off."""
    return lambda runs, margin: small_period(runs) or test(runs, margin)


CLAIMS = (
    Claim(
        "E-PROBE-1",
        "T fig. 5, §4.2",
        "The features of the large K improve more slowly than those of K = 1.",
        "improve slower in both layers",
        "ratio of the steps to the accuracy halfway from the start to the end of the large K, above 1, both layers",
        LATER,
        _of_a_large_period(_later),
    ),
    Claim(
        "E-PROBE-2",
        "T fig. 5, §4.2",
        "They level off at a lower accuracy.",
        "level off lower",
        "difference of the large K from K = 1 after all steps, layer 2, one-sided",
        POINT,
        _of_a_large_period(_lower),
    ),
    Claim(
        "E-PROBE-3",
        "T §4.2",
        "Where they level off, K = 1 is after a small part of its training.",
        "at about 20 %",
        "part of training in which K = 1 first reaches the final accuracy of the large K, layer 2, below a half",
        PART,
        _of_a_large_period(_early),
    ),
    Claim(
        "E-PROBE-4",
        "T §4.2",
        "One feature update at K = 1 teaches less than one at the large K.",
        "a single K = 1 results in less than 10⁵ steps with K = 10⁵",
        "difference of K = 1 after its first step from the large K after its first phase, layer 2, one-sided",
        POINT,
        _less_an_update,
    ),
    Claim(
        "E-PROBE-5",
        "T §3.1",
        "K steps on the proxy teach the features less than K steps on the network.",
        "conjectured",
        "difference of the large K at its first feature update from K = 1 after as many steps, layer 2, one-sided",
        POINT,
        _less_a_step,
    ),
)

FAMILIES = (Family("E-PROBE", "probes_runs", CLAIMS),)
