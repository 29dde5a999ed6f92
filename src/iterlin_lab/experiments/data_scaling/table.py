"""The tables of E-DATA."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.data_scaling.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, groups, read_cells
from iterlin_lab.tables.summaries import exponents, intervals, means, outcomes

BY = ["method", "K"]  # the control is K = 1 with another η
READINGS = {"accuracy": "validation_stopped", "test_stopped": "test_stopped"}


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row an n and K, a row a run, and the power law of every K over all n."""
    experiment, cells = scale.data_scaling, {}
    for n in sorted(experiment.sizes):
        cells |= by_period(experiment.periods, f"{n}-", n=n, method="gradient")
        cells[f"{n}-control"] = {"n": n, "method": "control", "K": 1.0}
    runs = compared(read_cells(layout.results / "data_scaling", cells, "runs"))
    return {
        "data_scaling": _summary(runs),
        "data_scaling_runs": runs,
        "data_scaling_slopes": means(runs[runs["n"] == runs["n"].min()], BY, "slope", "slope_difference"),
    }


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with what figure and claims compare.

    `accuracy` (stopped on validation data) and `test_stopped` are on test data, of the model that was trained: the
    linear proxy for K = ∞, else the network. The `error` is 1 − `accuracy`, and `slope` the exponent of error ∝ n^slope
    in this K and run, the same at all n; none if there is no error at some n. `difference` (of the accuracies) and
    `slope_difference` are from K = 1 of the same run, at the same n.
    """
    trained = {
        name: runs[f"network_{reading}"].where(np.isfinite(runs["K"]), runs[f"proxy_{reading}"])
        for name, reading in READINGS.items()
    }
    runs = runs.assign(**trained, error=1 - trained["accuracy"])
    slopes = exponents(runs, [*BY, "run"], "n", "error").rename("slope")
    runs = runs.join(slopes, on=[*BY, "run"])
    one = runs[(runs["method"] == "gradient") & (runs["K"] == 1)].set_index(["n", "run"])[["accuracy", "slope"]]
    one = runs[["n", "run"]].join(one, on=["n", "run"])
    return runs.assign(difference=runs["accuracy"] - one["accuracy"], slope_difference=runs["slope"] - one["slope"])


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row an n and K: how its runs ended, and means with 95 % t-intervals."""
    rows = []
    for row, group in groups(runs, ["n", *BY]):
        row |= {"runs": len(group)} | outcomes(group)
        row["median_steps"] = float(group["steps"].median())
        rows.append(row | intervals(group, *READINGS, "error", "difference"))
    return pd.DataFrame(rows)
