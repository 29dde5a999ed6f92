"""The tables of E-VIT."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.vit.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import mean_curves, summarise
from iterlin_lab.tables.summaries import differences, means

DRAWN = ("network_test_accuracy", "proxy_test_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a K, a row a run, and mean curves."""
    runs, curves = (
        pd.read_csv(layout.results / "vit" / f"{name}.csv", dtype={"period": float}).rename(columns={"period": "K"})
        for name in ("runs", "curves")
    )
    runs = compared(runs)
    return {
        "vit": _summary(runs),
        "vit_runs": runs,
        "vit_curves": mean_curves(curves[["K", "run", "step", *DRAWN]], ["K"]),
    }


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with the `accuracy` of the model that was trained: the linear proxy for K = ∞, else the network.

    It is the one on test data, stopped on validation data.
    """
    proxy, network = (runs[f"{model}_validation_stopped"] for model in ("proxy", "network"))
    return runs.assign(accuracy=proxy.where(np.isinf(runs["K"]), network))


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    first = runs[runs["K"] == 1]
    known = means(runs, ["K"], "accuracy", "kernel_distance").drop(columns="runs")
    summary = summarise(runs, first, ["K"]).merge(known, on="K")
    return summary.merge(differences(runs, first, ["K"], "accuracy"), on="K")
