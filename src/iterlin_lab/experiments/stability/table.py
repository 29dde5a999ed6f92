"""The tables of E-STABLE."""

from typing import Any

import numpy as np
import pandas as pd

from iterlin_lab.experiments.stability.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.statistics import bootstrap_counts, bootstrap_interval, exact_interval
from iterlin_lab.tables.summaries import outcomes

BOUND = 2  # on ηλ_max, below which explicit descent on a quadratic is stable
PERIODS = {"K = 1": 1, "1 < K ≤ 10": 10, "K > 10": np.inf}  # up to which K
PREDICTORS = {"ηλ_max": "eta_lambda_max", "ηK": "eta_k", "K": "period", "η": "learning_rate"}
DRAWS = 2000  # of the bootstrap


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Pairs of η and K, their runs, how the bound ηλ_max < 2 divides these, and what predicts that a run diverges."""
    runs = located(pd.read_csv(layout.results / "stability" / "runs.csv", dtype={"period": str}))
    return {
        "stability": summarise_pairs(runs),
        "stability_runs": runs,
        "stability_bound": divided(runs),
        "stability_predictors": predictors(runs),
    }


def located(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with K as a number, the name of their pair, ηλ_max at initialisation, ηK, and steps of the last phase.

    A run that diverged did so after `phase_step` steps on the lazy problem of that phase.
    """
    period, rate = runs["period"].map(parse_period).astype(float), runs["learning_rate"]
    cell = "η = " + rate.map("{:g}".format) + ", K = " + runs["period"]
    products = {"eta_lambda_max": rate * runs["max_eigenvalue"], "eta_k": rate * period}
    return runs.assign(cell=cell, period=period, phase_step=runs["steps"] % period, **products)


def summarise_pairs(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a pair: how its runs ended, and the share that diverged with its exact interval (Clopper–Pearson).

    The accuracy at the end is that of the runs that did not diverge.
    """
    rows = []
    for cell, group in runs.groupby("cell", sort=False):
        row: dict[str, Any] = {"cell": cell, **group[["learning_rate", "period", "eta_k"]].iloc[0]}
        row |= {"eta_lambda_max": float(group["eta_lambda_max"].median()), "runs": len(group)}
        row |= outcomes(group)
        low, high = exact_interval(row["diverged"], row["runs"])
        row |= {"share": row["diverged"] / row["runs"], "share_low": low, "share_high": high}
        row["median_network_final"] = float(group["network_final"].median())
        rows.append(row)
    return pd.DataFrame(rows)


def divided(runs: pd.DataFrame) -> pd.DataFrame:
    """How many runs diverged on either side of the bound at initialisation, for K in three ranges.

    `at_update` are those of them that a feature update ended: their last lazy problem was new, with one step at most.
    """
    diverged = runs["outcome"] == "diverged"
    table = pd.DataFrame(
        {
            "periods": pd.cut(runs["period"], [0, *PERIODS.values()], labels=list(PERIODS)),
            "above": runs["eta_lambda_max"] > BOUND,
            "diverged": diverged,
            "at_update": diverged & (runs["phase_step"] <= 1) & (runs["steps"] >= runs["period"]),
        }
    )
    by_side = table.groupby(["periods", "above"], observed=True)
    return by_side[["diverged", "at_update"]].sum().assign(runs=by_side.size()).reset_index()


def predictors(runs: pd.DataFrame) -> pd.DataFrame:
    """How well each quantity orders runs that diverged above runs that did not: the AUC, ties counted half.

    Its interval is that of a bootstrap over run numbers, since the runs of one number share their initialisation. All
    quantities are resampled alike. There is no AUC if all runs diverged, or none.
    """
    number = runs["run"].nunique()
    draws = bootstrap_counts(number, DRAWS)
    rows = []
    for name, column in PREDICTORS.items():
        ordered, pairs = _ordered(runs, column)
        low = high = np.nan
        if pairs.any():
            drawn = np.einsum("bi,ij,bj->b", draws, pairs, draws)
            found = np.einsum("bi,ij,bj->b", draws, ordered, draws)[drawn > 0] / drawn[drawn > 0]
            low, high = bootstrap_interval(found)
        auc = ordered.sum() / pairs.sum() if pairs.any() else np.nan
        rows.append({"predictor": name, "auc": auc, "auc_low": low, "auc_high": high})
    return pd.DataFrame(rows)


def _ordered(runs: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """By run numbers (i, j): pairs of a run of i that diverged and one of j that did not, in order; and all pairs."""
    member = pd.get_dummies(runs["run"], dtype=float).to_numpy()
    value, diverged = runs[column].to_numpy(), (runs["outcome"] == "diverged").to_numpy()
    bad, good = value[diverged, None], value[None, ~diverged]
    in_order = (bad > good) + (bad == good) / 2
    left, right = member[diverged], member[~diverged]
    return left.T @ in_order @ right, np.outer(left.sum(axis=0), right.sum(axis=0))
