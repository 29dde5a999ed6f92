"""The tables of E-STABLE."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.stability.settings import TENTH, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.statistics import bootstrap_counts, bootstrap_interval
from iterlin_lab.tables import groups, mean_curves
from iterlin_lab.tables.gaps import largest_gaps
from iterlin_lab.tables.summaries import diverging

BOUND = 2  # on ηλ_max, below which explicit descent on a quadratic is stable
UP_TO = [1, 10, np.inf]  # the ends of ranges of K
PREDICTORS = ("eta_lambda_max", "eta_k", "K", "learning_rate")
DRAWS = 2000  # of the bootstrap
BY = ["method", "learning_rate", "K"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Pairs of η and K, their runs, how the bound ηλ_max < 2 divides these, what predicts that a run diverges; curves.

    The bound and the predictors are those of runs from the network's own initialisation.
    """
    folder = layout.results / "stability"
    runs, curves = (pd.read_csv(folder / f"{name}.csv", dtype={"period": float}) for name in ("runs", "curves"))
    runs, curves = located(runs), curves.rename(columns={"period": "K"})
    runs["own"] = (runs["initialisation"] == scale.net.initialisation) & (runs["method"] == "gd")
    grid = runs[runs["own"]]
    return {
        "stability": summarise_pairs(runs),
        "stability_runs": runs.merge(sgd_gaps(curves), on=["method", "run"], how="left"),
        "stability_bound": divided(grid),
        "stability_predictors": predictors(grid),
        "stability_curves": mean_curves(drawn_curves(scale, curves), BY),
    }


def drawn_curves(scale: Scope, curves: pd.DataFrame) -> pd.DataFrame:
    """What W fig. 1 and 2 draw: the smallest η and ten times that, from the network's own initialisation."""
    rates = curves["learning_rate"] / min(scale.stability.learning_rates)
    wanted = np.isclose(rates, 1) | np.isclose(rates, TENTH)
    return curves[wanted & (curves["initialisation"] == scale.net.initialisation)].drop(columns="initialisation")


def sgd_gaps(curves: pd.DataFrame) -> pd.DataFrame:
    """By run, the largest gap of the test curve of SGD from that of gradient descent with the same η, per step."""
    timed = curves.assign(time=curves["step"])
    sgd = timed[timed["method"] == "sgd"]
    (rate,), (initialisation,) = sgd["learning_rate"].unique(), sgd["initialisation"].unique()
    same = (timed["learning_rate"] == rate) & (timed["K"] == 1) & (timed["initialisation"] == initialisation)
    gaps = largest_gaps(sgd, timed[same & (timed["method"] == "gd")])
    return gaps.rename_axis("run").reset_index(name="largest_gap").assign(method="sgd")


def located(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with ηλ_max at initialisation, ηK, and steps of the last phase.

    A run that diverged did so after `phase_step` steps on the lazy problem of that phase.
    """
    runs = runs.rename(columns={"period": "K"})
    rate = runs["learning_rate"]
    products = {"eta_lambda_max": rate * runs["max_eigenvalue"], "eta_k": rate * runs["K"]}
    return runs.assign(phase_step=runs["steps"] % runs["K"], **products)


def summarise_pairs(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a pair: how its runs ended, and the share that diverged with its exact interval (Clopper–Pearson).

    `own` says that they start as the network's own settings say. The accuracy at the end is a median over runs that did
    not diverge.
    """
    rows = []
    for row, group in groups(runs, ["initialisation", "own", "method", "learning_rate", "K", "eta_k"]):
        rows.append(row | {"eta_lambda_max": float(group["eta_lambda_max"].median())} | diverging(group))
    return pd.DataFrame(rows)


def divided(runs: pd.DataFrame) -> pd.DataFrame:
    """How many runs diverged on either side of the bound at initialisation, for K in three ranges.

    `at_update` are those of them that a feature update ended: their last lazy problem was new, with one step at most.
    """
    diverged = runs["outcome"] == "diverged"
    table = pd.DataFrame(
        {
            "K_up_to": pd.cut(runs["K"], [0, *UP_TO], labels=UP_TO).astype(float),
            "above": runs["eta_lambda_max"] > BOUND,
            "diverged": diverged,
            "at_update": diverged & (runs["phase_step"] <= 1) & (runs["steps"] >= runs["K"]),
        }
    )
    by_side = table.groupby(["K_up_to", "above"], observed=True)
    return by_side[["diverged", "at_update"]].sum().assign(runs=by_side.size()).reset_index()


def predictors(runs: pd.DataFrame) -> pd.DataFrame:
    """How well each quantity orders runs that diverged above runs that did not: the AUC, ties counted half.

    Its interval comes from a bootstrap over run numbers, since the runs of one number share their initialisation. All
    quantities are resampled alike. There is no AUC if all runs diverged, or none.
    """
    number = runs["run"].nunique()
    draws = bootstrap_counts(number, DRAWS)
    rows = []
    for predictor in PREDICTORS:
        ordered, pairs = _ordered(runs, predictor)
        low = high = np.nan
        if pairs.any():
            drawn = np.einsum("bi,ij,bj->b", draws, pairs, draws)
            found = np.einsum("bi,ij,bj->b", draws, ordered, draws)[drawn > 0] / drawn[drawn > 0]
            low, high = bootstrap_interval(found)
        auc = ordered.sum() / pairs.sum() if pairs.any() else np.nan
        rows.append({"predictor": predictor, "auc": auc, "auc_low": low, "auc_high": high})
    return pd.DataFrame(rows)


def _ordered(runs: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """By run numbers (i, j): pairs of a run of i that diverged and one of j that did not, in order; and all pairs."""
    member = pd.get_dummies(runs["run"], dtype=float).to_numpy()
    value, diverged = runs[column].to_numpy(), (runs["outcome"] == "diverged").to_numpy()
    bad, good = value[diverged, None], value[None, ~diverged]
    in_order = (bad > good) + (bad == good) / 2
    left, right = member[diverged], member[~diverged]
    return left.T @ in_order @ right, np.outer(left.sum(axis=0), right.sum(axis=0))
