"""The claims of E-STABLE (W §4), on whole maps of η and K: the same draw of data and initialisation in every cell.

What is tested is a number per draw, positive where the claim holds there: it is so in more than half of all draws, or
in fewer. That is an exact binomial test, which asks nothing of how the cells of a map depend on each other; runs of
different cells are never counted as independent. After Holm, six claims need seven draws.

Maps are those of the network's own initialisation, but for E-STABLE-6, which compares two.
"""

import numpy as np
import pandas as pd

from iterlin_lab.claims.evidence import Claim, Evidence, Family, any_diverged, apart, in_most
from iterlin_lab.experiments.stability.settings import TENTH
from iterlin_lab.report.names import named
from iterlin_lab.tables.summaries import exponents

BOUND = 2  # on ηλ_max
HALF, CURVES = 0.5, 0.05
PAIR = ["learning_rate", "K"]
ROUNDING = 1e-6  # of products ηt


def _whole(runs: pd.DataFrame) -> pd.DataFrame:
    """Whether runs of the map diverged, without draws that lack a run of some pair."""
    runs = runs[runs["own"]]
    known = runs.groupby("run")["run"].transform("size") == len(runs[PAIR].drop_duplicates())
    return runs[known].assign(diverged=runs["outcome"] == "diverged")


def _telling(shares: pd.Series) -> pd.Index:
    """The draws that have both runs that diverged and runs that did not: others say nothing about stability."""
    return shares.index[(shares > 0) & (shares < 1)]


def _above_a_few_steps(runs: pd.DataFrame, margin: float) -> Evidence | None:
    by_rate = runs[runs["own"]].groupby("learning_rate")["eta_lambda_max"].median()
    runs = runs[runs["own"]]
    largest = runs.loc[np.isfinite(runs["K"]), "K"].max()
    whole = _whole(runs[runs["learning_rate"].isin(by_rate.index[by_rate > BOUND])])
    if whole.empty or largest == 1:
        return None
    shares = whole.groupby(["run", "K"])["diverged"].mean().unstack()
    text = (
        f"where ηλ_max > {BOUND}, {shares[largest].mean():.0%} diverged at {named(K=largest)} "
        f"and {shares[1].mean():.0%} at K = 1"
    )
    return in_most(shares[largest] - shares[1], margin, text)


def _more_than_the_product(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """After equal times ηt, which are equal numbers of phases, since small η have less time in as many steps.

    The largest η counts as diverged only if it was by the time at which the smallest one ran out of steps, if it did.
    """
    whole = _whole(runs)
    finite = whole[np.isfinite(whole["K"])].sort_values("learning_rate")
    finite = finite.assign(product=finite["eta_k"].map("{:.3g}".format), time=finite["learning_rate"] * finite["steps"])
    by_product = finite.groupby(["run", "product"])[["learning_rate", "time", "outcome", "diverged"]]
    small, large = by_product.first(), by_product.last()
    in_time = (small["outcome"] != "step_limit") | (large["time"] <= small["time"] * (1 + ROUNDING))
    ends = pd.DataFrame({"small": small["diverged"], "large": large["diverged"] & in_time})
    ends = ends[small["learning_rate"] < large["learning_rate"]]
    shares = ends.groupby("run").mean()
    shares = shares.loc[_telling(shares.mean(axis=1))]
    text = (
        f"at {ends.index.unique('product').size} values of ηK that several pairs share, {shares['large'].mean():.0%} "
        f"diverged with the largest η and {shares['small'].mean():.0%} with the smallest, after equal times ηt"
    )
    return in_most(shares["large"] - shares["small"], margin, text)


def _first_to_diverge(runs: pd.DataFrame) -> pd.Series:
    """By draw and K, the geometric mean of the smallest η that diverges and the next smaller one; none at an end."""
    ordered = runs.sort_values("learning_rate")
    ordered = ordered.assign(smaller=ordered.groupby(["run", "K"])["learning_rate"].shift())
    first = ordered[ordered["diverged"]].groupby(["run", "K"]).nth(0).set_index(["run", "K"])
    return (first["learning_rate"] * first["smaller"]).dropna() ** 0.5


def _sharpness(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """If ηλ_max decides, the η at which a draw begins to diverge is the same for all K; if ηK does, it is as 1/K."""
    whole = _whole(runs)
    edges = _first_to_diverge(whole[np.isfinite(whole["K"])]).rename("edge").reset_index()
    edges = edges[edges.groupby("run")["K"].transform("size") > 1]
    if edges.empty:
        return None
    slopes = exponents(edges, ["run"], "K", "edge")
    text = f"the η at which a draw begins to diverge goes as K^{slopes.mean():.2f} on average"
    return in_most(slopes + HALF, margin, text)


def _a_tenth(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """In a draw it holds where no K diverges at the smallest η, and one does at ten times that."""
    whole = _whole(runs)
    smallest = whole["learning_rate"].min()
    tenfold = whole[np.isclose(whole["learning_rate"], TENTH * smallest)]
    if whole.empty or tenfold.empty:
        return None
    first = whole[whole["learning_rate"] == smallest]
    stable, unstable = ~first.groupby("run")["diverged"].any(), tenfold.groupby("run")["diverged"].any()
    text = (
        f"at η = {smallest:g} no K up to {named(K=first['K'].max())} diverged in {stable.sum()} draws, "
        f"at ten times that one did in {unstable.sum()}"
    )
    return in_most((stable & unstable).astype(float), margin, text)


def _sgd(runs: pd.DataFrame, margin: float) -> Evidence | None:
    sgd = runs[runs["method"] == "sgd"]
    return None if any_diverged(sgd) else apart({"SGD": sgd["largest_gap"]}, margin)


def _initialisation(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """Of K > 1 with ηλ_max below the bound: the share that diverged, from PyTorch's default minus from He-normal."""
    below = runs[(runs["method"] == "gd") & (runs["K"] > 1) & (runs["eta_lambda_max"] < BOUND)]
    below = below.assign(diverged=below["outcome"] == "diverged")
    shares = below.groupby(["run", "initialisation"])["diverged"].mean().unstack().dropna()
    if not {"pytorch", "he_normal"} <= set(shares) or shares.empty:
        return None
    pytorch, he_normal = shares["pytorch"], shares["he_normal"]
    text = (
        f"of runs with K > 1 and ηλ_max < {BOUND}, {pytorch.mean():.0%} diverged from PyTorch's default and "
        f"{he_normal.mean():.0%} from He-normal"
    )
    return in_most(pytorch - he_normal, margin, text)


CLAIMS = (
    Claim(
        "E-STABLE-1",
        "W §4, fig. 1",
        "With too large an η, training diverges once K is above a few steps.",
        "at η = 1e-4 as soon as K goes above 5",
        "the η with median ηλ_max > 2: more of them diverge at the largest finite K than at K = 1, in most draws",
        HALF,
        _above_a_few_steps,
    ),
    Claim(
        "E-STABLE-2",
        "W §4, fig. 2",
        "Stability depends on more than ηK: at the same ηK the larger η diverges more.",
        "a tenth of the η is stable at 4000 times the K",
        "pairs of equal ηK, after equal ηt: more diverge at their largest η than at their smallest, in most draws",
        HALF,
        _more_than_the_product,
    ),
    Claim(
        "E-STABLE-3",
        "W §5.1",
        "Which runs diverge is better told by ηλ_max at initialisation than by ηK.",
        "an open question; the bound is ours",
        "exponent in K of the η at which a draw begins to diverge, nearer to 0 (ηλ_max) than to −1 (ηK), in most draws",
        HALF,
        _sharpness,
    ),
    Claim(
        "E-STABLE-4",
        "W §4, fig. 2",
        "With a tenth of an η that is unstable, training stays stable for every K that is tried.",
        "at η = 1e-5 stable for all K up to 20 000",
        "no K diverges at the smallest η, and some K does at ten times that, in most draws",
        HALF,
        _a_tenth,
    ),
    Claim(
        "E-STABLE-5",
        "W §4, fig. 1",
        "Per step, SGD with the same η gives the learning curve of gradient descent.",
        "similar performance",
        "largest gap of the test curve of SGD from that of K = 1 at equal steps, at most five points",
        CURVES,
        _sgd,
    ),
    Claim(
        "E-STABLE-6",
        "choices: initialisation",
        "ηλ_max at initialisation tells less of stability from PyTorch's default, whose λ_max is small and grows.",
        "not measured",
        "below the bound, K > 1: a larger share diverges from PyTorch's default than from He-normal, in most draws",
        HALF,
        _initialisation,
    ),
)

FAMILIES = (Family("E-STABLE", "stability_runs", CLAIMS),)
