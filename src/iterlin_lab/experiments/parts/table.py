"""The tables of E-PART."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.parts.settings import Scope, counts
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, groups, read_cells
from iterlin_lab.tables.summaries import intervals, outcomes

BY = ["layers", "K"]
SIZES = ["trained_parameters", "parameters", "share"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a part and K, and a row a run."""
    cells, folder = {}, layout.results / "parts"
    for count in counts(scale):
        cells |= by_period(scale.parts.periods, f"{count}-", layers=count)
    runs = compared(*(read_cells(folder, cells, table) for table in ("runs", "curves")))
    return {"parts": _summary(runs), "parts_runs": runs}


def compared(runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Runs with what figure and claims compare.

    `share` of the parameters are trained. `accuracy`, on test data and stopped on validation data, and `loss`, on the
    training data at the end, are of the model that was trained: the linear proxy for K = ∞, else the network.
    `difference` is the accuracy minus that of all layers at the same K, and `gain` is the accuracy of K = 1 minus that
    of this K, of the same run and layers.
    """
    ends = curves.groupby([*BY, "run"], as_index=False)[["network_train_loss", "proxy_train_loss"]].last()
    runs = runs.drop(columns="network_train_loss").merge(ends, on=[*BY, "run"], how="left")
    lazy = np.isinf(runs["K"])
    runs["share"] = runs["trained_parameters"] / runs["parameters"]
    for name, reading in {"accuracy": "validation_stopped", "loss": "train_loss"}.items():
        runs[name] = runs[f"proxy_{reading}"].where(lazy, runs[f"network_{reading}"])
    whole = runs[runs["layers"] == runs["layers"].max()].set_index(["K", "run"])["accuracy"].rename("of_all")
    one = runs[runs["K"] == 1].set_index(["layers", "run"])["accuracy"].rename("of_one")
    joined = runs.join(whole, on=["K", "run"]).join(one, on=["layers", "run"])
    return runs.assign(
        difference=joined["accuracy"] - joined["of_all"],
        gain=joined["of_one"] - joined["accuracy"],
    )


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a part and K: what is trained, how its runs ended, and means with 95 % t-intervals."""
    return pd.DataFrame(
        row
        | group[SIZES].iloc[0].to_dict()
        | {"runs": len(group)}
        | outcomes(group)
        | intervals(group, "accuracy", "loss", "difference", "gain")
        for row, group in groups(runs, BY)
    )
