"""From the cells of the sweep to the tables that figures and report read: means over runs, with 95 % t-intervals."""

from typing import Any

import numpy as np
import pandas as pd

from iterlin_lab import statistics
from iterlin_lab.tables.cells import groups

ENDS = ("mean", "low", "high")
ACCURACIES = tuple(
    f"{model}_{reading}"
    for model in ("network", "proxy")
    for reading in ("validation_stopped", "test_stopped", "final")
)
# The reading that comparisons use: chosen without the test data.
COMPARED = "network_validation_stopped"


def interval(values: pd.Series) -> dict[str, float]:
    """Mean and t-interval over runs, by the names that they have in columns."""
    return dict(zip(ENDS, statistics.interval(values), strict=True))


def intervals(group: pd.DataFrame, *names: str) -> dict[str, float]:
    """Mean and interval of each of these columns, as `name_mean`, `name_low` and `name_high`."""
    return {f"{name}_{part}": value for name in names for part, value in interval(group[name]).items()}


def means(table: pd.DataFrame, by: list[str], *names: str) -> pd.DataFrame:
    """A row a group: the intervals of these columns, and `runs`, in which the first of them is known."""
    return pd.DataFrame(
        row | {"runs": int(group[names[0]].count())} | intervals(group, *names) for row, group in groups(table, by)
    )


def geometric_means(table: pd.DataFrame, by: list[str], *names: str) -> pd.DataFrame:
    """Rows as of `means`, with geometric means, and the intervals of mean logarithms."""
    found = means(table.assign(**{name: np.log(table[name]) for name in names}), by, *names)
    parts = [f"{name}_{part}" for name in names for part in ENDS]
    return found.assign(**{part: np.exp(found[part]) for part in parts})


def exponents(table: pd.DataFrame, by: list[str], x: str, y: str) -> pd.Series:
    """p of y ∝ x^p, by least squares in logarithms, of every group; missing where a y is, or is not positive."""
    logs = table[by].assign(x=np.log(table[x]), y=np.log(table[y].where(table[y] > 0)))

    def exponent(group: pd.DataFrame) -> float:
        centred = group["x"] - group["x"].mean()
        return float((centred * group["y"]).sum(skipna=False) / (centred**2).sum())

    return logs.groupby(by, sort=False)[["x", "y"]].apply(exponent)


def outcomes(runs: pd.DataFrame) -> dict[str, int]:
    """How many of the runs ended in which way."""
    return {outcome: int((runs["outcome"] == outcome).sum()) for outcome in ("fitted", "step_limit", "diverged")}


def diverging(runs: pd.DataFrame) -> dict[str, Any]:
    """How runs ended, the share that diverged with its exact interval (Clopper–Pearson), and the others' median end."""
    row = {"runs": len(runs)} | outcomes(runs)
    low, high = statistics.exact_interval(row["diverged"], row["runs"])
    row |= {"share": row["diverged"] / row["runs"], "share_low": low, "share_high": high}
    return row | {"median_network_final": float(runs["network_final"].median())}


def summarise(runs: pd.DataFrame, reference: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """One row a group: how its runs ended, the accuracies, and the difference from `reference`, paired by run."""
    rows = []
    for row, group in groups(runs, by):
        row |= {"runs": len(group)} | outcomes(group)
        row["unsolved"] = int((~group["last_phase_ended"].astype(bool) & (group["outcome"] == "step_limit")).sum())
        row |= {f"median_{name}": float(group[name].median()) for name in ("steps", "feature_updates", "evaluations")}
        row["max_eta_lambda_max"] = float(group.get("eta_lambda_max", pd.Series(dtype=float)).max())
        row |= intervals(group, *ACCURACIES)
        difference = group.set_index("run")[COMPARED] - reference.set_index("run")[COMPARED]
        row |= {f"difference_{part}": value for part, value in interval(difference).items()}
        rows.append(row)
    return pd.DataFrame(rows)


def differences(runs: pd.DataFrame, reference: pd.DataFrame, by: list[str], column: str) -> pd.DataFrame:
    """One row a group: mean and interval of `column` minus the reference, paired by run."""
    expected = reference.set_index("run")[column]
    rows = []
    for row, group in groups(runs, by):
        found = interval(group.set_index("run")[column] - expected)
        rows.append(row | {f"{column}_difference_{part}": value for part, value in found.items()})
    return pd.DataFrame(rows)


def mean_curves(curves: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The mean curve of each group."""
    tables = []
    for row, group in groups(curves, by):
        curve = mean_curve(group.drop(columns=by))
        tables.append(pd.DataFrame(row, index=curve.index).join(curve))
    return pd.concat(tables)


def mean_curve(curves: pd.DataFrame) -> pd.DataFrame:
    """By step, mean and interval over runs of what was recorded.

    A run keeps its last values after its end, and between two records the values of the earlier one.
    """
    last: Any = curves.drop(columns="phase_step", errors="ignore").groupby(["step", "run"]).last().unstack("run")
    table = {}
    for name in last.columns.unique(0):
        by_run = last[name].dropna(how="all").dropna(how="all", axis=1).ffill()
        with np.errstate(invalid="ignore"):  # a run that diverged may end with an infinite loss
            half = statistics.half_width(by_run.sem(axis=1), by_run.shape[1])
        table[f"{name}_mean"] = by_run.mean(axis=1)
        table[f"{name}_low"] = by_run.mean(axis=1) - half
        table[f"{name}_high"] = by_run.mean(axis=1) + half
    return pd.DataFrame(table).reset_index()
