"""The claims of L-RELU (L theorem 4, §1.3), on the exponents p of n_ε ∝ d^p, the examples that an error ε takes.

One exponent separates the two: 1 + margin, which is linear in d up to what a finite range of d may hide.
"""

from functools import partial

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, estimate
from iterlin_lab.statistics import p_above, p_below

MARGIN = 0.25  # of exponents: a quarter of the way from d to d²
STEADY = 0.25  # of the ratio of two rates
DESCENT = "one neuron"


def _values(runs: pd.DataFrame, learner: str, name: str) -> pd.Series | None:
    """By run; None if a run has none, since those that need most examples are the ones that miss it."""
    values = runs.loc[runs["learner"] == learner, name]
    return None if values.isna().any() or len(values) < MIN_RUNS else values


def _linear(runs: pd.DataFrame, margin: float) -> Evidence | None:
    values = _values(runs, DESCENT, "exponent")
    if values is None:
        return None
    text, found = f"exponent {estimate(values, '.2f')}", effects({"": values}, "exponent")
    return Evidence(p_below(values, 1 + margin), p_above(values, 1 + margin), text, found)


def _more(runs: pd.DataFrame, margin: float, learners: tuple[str, ...]) -> Evidence | None:
    """All at once (intersection-union); the opposite is that one is linear (Bonferroni)."""
    found = {learner: _values(runs, learner, "exponent") for learner in learners}
    whole = {learner: values for learner, values in found.items() if values is not None}
    if len(whole) < len(found):
        return None
    p_all = max(p_above(values, 1 + margin) for values in whole.values())
    p_one = min(p_below(values, 1 + margin) for values in whole.values())
    text = "; ".join(f"{learner}: exponent {estimate(values, '.2f')}" for learner, values in whole.items())
    return Evidence(p_all, min(1, len(whole) * p_one), text, effects(whole, "exponent"))


def _exponential(runs: pd.DataFrame, margin: float) -> Evidence | None:
    values = _values(runs, DESCENT, "steadiness")
    if values is None:
        return None
    text, found = f"ratio {estimate(values, '.2f')}", effects({"": values}, "ratio")
    return Evidence(p_above(values, 1 - margin), p_below(values, 1 - margin), text, found)


CLAIMS = (
    Claim(
        "L-RELU-1",
        "L theorem 4",
        "One ReLU neuron trained by gradient descent learns a ReLU neuron from O(d) examples.",
        "O(d) samples",
        "exponent of n_ε in d, below 1 + margin, one-sided",
        MARGIN,
        _linear,
    ),
    Claim(
        "L-RELU-2",
        "L §1.3, fig. 3",
        "Kernel regression needs more than O(d) examples for it.",
        "d^poly(1/ε)",
        "exponents of n_ε in d with K^RF and K^NT, both above 1 + margin, one-sided",
        MARGIN,
        partial(_more, learners=("RF", "NT")),
    ),
    Claim(
        "L-RELU-3",
        "L §1.3",
        "So does gradient descent in the NTK regime.",
        "by extension",
        "exponent of n_ε in d of lazy training, above 1 + margin, one-sided",
        MARGIN,
        partial(_more, learners=("lazy",)),
    ),
    Claim(
        "L-RELU-4",
        "L theorem 4",
        "Gradient descent on the neuron converges exponentially fast.",
        "exponentially quickly",
        "rate of log error from 1e-7 to 1e-12 over that from 1e-2 to 1e-7, above 1 − margin, one-sided",
        STEADY,
        _exponential,
    ),
)

FAMILIES = (Family("L-RELU", "one_neuron_runs", CLAIMS),)
