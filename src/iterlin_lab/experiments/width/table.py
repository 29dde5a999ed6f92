"""The tables of E-WIDTH."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.width.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups
from iterlin_lab.tables.summaries import geometric_means, means, outcomes

BY = ["channels", "K"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a width and K, and a row a run."""
    runs = compared(pd.read_csv(layout.results / "width" / "runs.csv"))
    return {"width": _summary(runs), "width_runs": runs}


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with the `accuracy` of the model that was trained, and its `difference` from K = 1 of its width and draw.

    Accuracies are stopped on validation data. A run that was cut off has none; lazy training (K = ∞, and its proxy) is
    not expected to fit, so that only divergence counts there.
    """
    lazy = np.isinf(runs["K"])
    accuracy = runs["proxy_validation_stopped"].where(lazy, runs["network_validation_stopped"])
    whole = (runs["outcome"] == "fitted") | (lazy & (runs["outcome"] == "step_limit"))
    found = runs.assign(accuracy=accuracy.where(whole))
    one = found[found["K"] == 1].set_index(["channels", "run"])["accuracy"]
    expected = one.loc[pd.MultiIndex.from_frame(found[["channels", "run"]])].to_numpy()
    return found.assign(difference=found["accuracy"] - expected)


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """How the runs ended, the means of what they reached, and the geometric mean of how far kernels moved."""
    rows = pd.DataFrame(
        row | outcomes(group) | {"median_feature_updates": float(group["feature_updates"].median())}
        for row, group in groups(runs, BY)
    )
    moved = geometric_means(runs[np.isfinite(runs["K"])], BY, "kernel_distance").drop(columns="runs")
    return rows.merge(means(runs, BY, "accuracy", "difference"), on=BY).merge(moved, on=BY, how="left")
