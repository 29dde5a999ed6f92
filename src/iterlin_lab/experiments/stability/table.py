"""The tables of E-STABLE."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.stability.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.statistics import bootstrap_counts, bootstrap_interval
from iterlin_lab.tables import groups
from iterlin_lab.tables.summaries import diverging

BOUND = 2  # on ηλ_max, below which explicit descent on a quadratic is stable
UP_TO = [1, 10, np.inf]  # the ends of ranges of K
PREDICTORS = ("eta_lambda_max", "eta_k", "K", "learning_rate")
DRAWS = 2000  # of the bootstrap


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Pairs of η and K, their runs, how the bound ηλ_max < 2 divides these, and what predicts that a run diverges."""
    runs = located(pd.read_csv(layout.results / "stability" / "runs.csv", dtype={"period": float}))
    return {
        "stability": summarise_pairs(runs),
        "stability_runs": runs,
        "stability_bound": divided(runs),
        "stability_predictors": predictors(runs),
    }


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

    The accuracy at the end is a mean over runs that did not diverge.
    """
    rows = []
    for row, group in groups(runs, ["learning_rate", "K", "eta_k"]):
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
