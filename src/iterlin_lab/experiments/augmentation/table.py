"""The tables of E-AUG."""

import pandas as pd

from iterlin_lab.experiments.augmentation.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.summaries import differences

DRAWN = ("network_test_accuracy", "proxy_test_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs; a row a K, with differences from K = 1 after all steps; curves of network and proxy."""
    folder, cells = layout.results / "augmentation", by_period(scale.augmentation.periods)
    runs, curves = (read_cells(folder, cells, table) for table in ("runs", "curves"))
    first = runs[runs["K"] == 1]
    return {
        "augmentation": summarise(runs, first, ["K"]).merge(differences(runs, first, ["K"], "network_final"), on="K"),
        "augmentation_runs": runs,
        "augmentation_curves": mean_curves(curves[["K", "run", "step", *DRAWN]], ["K"]),
    }
