"""The tables of E-DATA."""

import pandas as pd

from iterlin_lab.experiments.data_scaling.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables.summaries import exponents, intervals, means, outcomes

ONE, LAZY, CONTROL = "K = 1", "K = inf", "control"
READINGS = {"accuracy": "validation_stopped", "test_stopped": "test_stopped"}


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a cell, a row a run, and the power law of every K over all n.

    `period` is `K = …` or `control`: text, which stays as it is when a table is read back.
    """
    experiment = scale.data_scaling
    names = [f"{n}-{period}" for n in sorted(experiment.sizes) for period in (*experiment.periods, CONTROL)]
    runs = compared(read_cells(layout.results / "data_scaling", names, "runs"))
    return {
        "data_scaling": _summary(runs),
        "data_scaling_runs": runs.assign(cell="n = " + runs["n"].astype(str) + ", " + runs["period"]),
        "data_scaling_slopes": means(runs[runs["n"] == runs["n"].min()], ["period"], "slope", "slope_difference"),
    }


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of the cells `n-K` with what figure and claims compare.

    `accuracy` (stopped on validation data) and `test_stopped` are on test data, of the model that was trained: the
    linear proxy for K = ∞, else the network. The `error` is 1 − `accuracy`, and `slope` the exponent of error ∝ n^slope
    in this K and run, the same at all n; none if there is no error at some n. `difference` (of the accuracies) and
    `slope_difference` are from K = 1 of the same run, at the same n.
    """
    parts = runs["cell"].str.split("-", expand=True)
    period = parts[1].where(parts[1] == CONTROL, "K = " + parts[1])
    runs = runs.assign(n=parts[0].astype(int), period=period)
    for name, reading in READINGS.items():
        runs[name] = runs[f"network_{reading}"].where(period != LAZY, runs[f"proxy_{reading}"])
    runs["error"] = 1 - runs["accuracy"]
    slopes = exponents(runs, ["period", "run"], "n", "error").rename("slope")
    runs = runs.join(slopes, on=["period", "run"])
    one = runs[runs["period"] == ONE].set_index(["n", "run"])[["accuracy", "slope"]]
    one = runs[["n", "run"]].join(one, on=["n", "run"])
    return runs.assign(difference=runs["accuracy"] - one["accuracy"], slope_difference=runs["slope"] - one["slope"])


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a cell: how its runs ended, and means with 95 % t-intervals."""
    rows = []
    for (cell, n, period), group in runs.groupby(["cell", "n", "period"], sort=False):
        row = {"cell": cell, "n": n, "period": period, "runs": len(group)}
        row |= outcomes(group)
        row["median_steps"] = float(group["steps"].median())
        rows.append(row | intervals(group, *READINGS, "error", "difference"))
    return pd.DataFrame(rows)
