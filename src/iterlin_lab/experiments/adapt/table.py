"""The tables of E-ADAPT."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.adapt.settings import Adapt, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.tables import Cells, by_period, groups, read_cells, summarise
from iterlin_lab.tables.summaries import COMPARED, diverging, interval, intervals

BY = ["method", "K"]
COSTS = ("feature_updates", "evaluations")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a K or schedule, and the runs of these; a row an η and K or schedule of the grid, and its runs."""
    folder, own = layout.results / "adapt", scale.adapt
    runs = beside_fixed(read_cells(folder, _cells(own), "runs"))
    grid = read_cells(folder, _grid(own), "runs")
    return {
        "adapt": _summary(runs),
        "adapt_runs": runs.assign(
            reference=runs["K"] == parse_period(own.reference), log_updates=_log(runs["feature_updates"])
        ),
        "adapt_grid": pd.DataFrame(row | diverging(rows) for row, rows in groups(grid, ["learning_rate", *BY])),
        "adapt_grid_runs": grid,
    }


def _cells(own: Adapt) -> Cells:
    """`method` has the name of the schedule, or is `damped`, and K is missing."""
    named = {name: {"method": name} for name in (*own.schedules, "damped")}
    return {**by_period(own.periods, method="gradient"), **named}


def _grid(own: Adapt) -> Cells:
    found = {}
    for rate in own.grid.learning_rates:
        found |= by_period(own.grid.periods, f"grid-{rate:g}-", method="gradient", learning_rate=rate)
        found[f"grid-{rate:g}-watching"] = {"method": "watching", "learning_rate": rate}
    return found


def beside_fixed(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with their accuracy minus that of fixed K at as many feature updates, and at as many evaluations.

    `at_equal_feature_updates` and `at_equal_evaluations` are paired by run. Between two fixed K the accuracy is
    interpolated over the logarithm of the cost, and beyond the cheapest or dearest of them it is theirs. Where several
    fixed K have one cost, it is the mean of theirs.
    """
    found = []
    for _, own in groups(runs, ["run"]):
        fixed = own[np.isfinite(own["K"])]
        differences = {f"at_equal_{cost}": own[COMPARED] - _fixed(fixed, cost, own[cost]) for cost in COSTS}
        found.append(own.assign(**differences))
    return pd.concat(found).sort_index()


def _fixed(fixed: pd.DataFrame, cost: str, wanted: pd.Series) -> np.ndarray:
    """The accuracy of fixed K at these costs."""
    known = fixed.groupby(cost)[COMPARED].mean()
    return np.interp(_log(wanted), _log(known.index), known.to_numpy())


def _log(cost: pd.Series | pd.Index) -> np.ndarray:
    return np.log1p(np.asarray(cost, float))  # there may be no feature update


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """How the runs ended, their accuracy and its differences, and the geometric means of what they cost."""
    rows = []
    for row, group in groups(runs, BY):
        for cost in COSTS:
            logs = {part: np.expm1(value) for part, value in interval(pd.Series(_log(group[cost]))).items()}
            row |= {f"{cost}_{part}": value for part, value in logs.items()}
        rows.append(row | intervals(group, *(f"at_equal_{cost}" for cost in COSTS)))
    return summarise(runs, runs[runs["K"] == 1], BY).merge(pd.DataFrame(rows), on=BY)
