"""The claims of L-DECAY (L lemma 1). A bound on every trajectory is refuted by one that breaks it: p is 0 or 1."""

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, estimate
from iterlin_lab.statistics import within

ROUNDING = 1e-6  # of log L, which float64 and the integrator's tolerance leave
MARGIN = 0.1  # of a ratio of rates; without the square it would be σ_min, which is not near one
LINEARISED = "linearised"
TRIED = 0.99


def _bounded(runs: pd.DataFrame, margin: float) -> Evidence | None:
    if runs["run"].nunique() < MIN_RUNS or runs["excess"].isna().any():
        return None
    broken, largest = int((runs["excess"] > margin).sum()), runs["excess"].max()
    text = f"{broken} of {len(runs)} trajectories exceed the bound; largest log L(t)/L(0) + 2λt: {largest:.2g}"
    return Evidence(float(broken > 0), float(broken == 0), text)


def _own_bound(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    """The clause on the smallest σ_min is tried only where that is not the first one."""
    network = runs[runs["method"] != LINEARISED]
    if (network["smallest"] > TRIED * network["initial"]).all():
        return (
            f"σ_min(J_t) stays above {TRIED} of its start in all of these {len(network)} trajectories, so that its "
            "smallest value plays no part"
        )
    return _bounded(network, margin)


def _rate(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """A number a run, its mean over the numbers of examples, which share its draw."""
    ratios = runs[runs["method"] == LINEARISED].groupby("run")["ratio"].mean()
    if len(ratios) < MIN_RUNS or ratios.isna().any():
        return None
    text = f"measured rate over 2γ²σ_min(J₀)²/n {estimate(ratios, '.3f')}"
    return Evidence(*within(ratios, 1 - margin, 1 + margin), text, effects({"": ratios}, "ratio"))


CLAIMS = (
    Claim(
        "L-DECAY-1",
        "L lemma 1",
        "The loss of the linearised network stays below L(0) exp(−2γ²σ_min(J₀)²t/n) along its flow.",
        "exp(−2γ²tσ_min(J₀)) of a sum over examples, where the square is missing",
        "every record of every trajectory, no excess beyond rounding",
        ROUNDING,
        lambda runs, margin: _bounded(runs[runs["method"] == LINEARISED], margin),
    ),
    Claim(
        "L-DECAY-2",
        "L lemma 1",
        "So does that of the network itself, with the smallest σ_min(J_t) that it meets.",
        "if Q(t) ≥ λ for all t",
        "every record of every trajectory, no excess beyond rounding",
        ROUNDING,
        _own_bound,
    ),
    Claim(
        "L-DECAY-3",
        "L §2",
        "In the end the loss of the linearised network falls at the rate of the bound.",
        "exponentially fast",
        "rate in the last quarter of the time over that of the bound, equivalence to 1",
        MARGIN,
        _rate,
    ),
)

FAMILIES = (Family("L-DECAY", "decay_runs", CLAIMS),)
