"""The tables of E-QUAD."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.quadratic.settings import NETWORK, SPLITS, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups
from iterlin_lab.tables.summaries import geometric_means, means, outcomes

DISTANCES = tuple(f"{split}_distance" for split in SPLITS)


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a model, a row a run; and by step, how far expansions are from the network: means, and all runs."""
    runs, distances = (pd.read_csv(layout.results / "quadratic" / f"{name}.csv") for name in ("runs", "distances"))
    runs = compared(runs)
    summary = pd.DataFrame(row | outcomes(group) for row, group in groups(runs, ["order"]))
    return {
        "quadratic": summary.merge(means(runs, ["order"], "accuracy", "accuracy_final"), on="order"),
        "quadratic_runs": runs.merge(nearer(distances), on="run", how="left"),
        "quadratic_distances": geometric_means(distances, ["order", "step"], *DISTANCES),
    }


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with the test accuracy of the model that was trained, stopped on validation data and at the end."""
    trained = {
        reading: runs[f"network_{reading}"].where(runs["order"] == NETWORK, runs[f"proxy_{reading}"])
        for reading in ("validation_stopped", "final")
    }
    return runs.assign(accuracy=trained["validation_stopped"], accuracy_final=trained["final"])


def nearer(distances: pd.DataFrame) -> pd.DataFrame:
    """A row a run: the mean over its records, and so over log K, of the log of d_2/d_1, the distances of the orders."""
    logs = np.log(distances.pivot(index=["run", "step"], columns="order", values=list(DISTANCES)))
    ratios = {f"log_{name}_ratio": logs[name][2] - logs[name][1] for name in DISTANCES}
    return pd.DataFrame(ratios).groupby("run").mean().reset_index()
