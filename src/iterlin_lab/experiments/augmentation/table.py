"""The tables of E-AUG."""

from typing import Any

import pandas as pd

from iterlin_lab.experiments.augmentation.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.phases import late_gains
from iterlin_lab.tables.summaries import differences

DRAWN = ("network_test_accuracy", "proxy_test_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs; a row a K, with differences from K = 1 after all steps; curves of network and proxy."""
    runs, curves = trained(scale, layout)
    first = runs[runs["K"] == 1]
    return {
        "augmentation": summarise(runs, first, ["K"]).merge(differences(runs, first, ["K"], "network_final"), on="K"),
        "augmentation_runs": runs,
        "augmentation_curves": mean_curves(curves[["K", "run", "step", *DRAWN]], ["K"]),
    }


def trained(scale: Any, layout: Layout) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs with their `late_gain`, and their curves.

    It is the part of the decrease of the proxy's training loss that the second half of the first phase brings. Where it
    is large, phases end before their problem is solved.
    """
    folder, cells = layout.results / "augmentation", by_period(scale.augmentation.periods)
    runs, curves = (read_cells(folder, cells, table) for table in ("runs", "curves"))
    gains = [
        late_gains(curve, "proxy_train_loss").rename_axis("run").reset_index(name="late_gain").assign(K=K)
        for K, curve in curves.groupby("K")
    ]
    return runs.merge(pd.concat(gains), on=["K", "run"], how="left"), curves
