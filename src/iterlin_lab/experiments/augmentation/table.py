"""The tables of E-AUG."""

import pandas as pd

from iterlin_lab.experiments.augmentation.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables.summaries import differences, mean_curves, summarise

DRAWN = ("network_test_accuracy", "proxy_test_accuracy")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs; a row a K, with differences from K = 1 after all steps; curves of network and proxy."""
    runs, curves = (
        read_cells(layout.results / "augmentation", scale.augmentation.periods, table) for table in ("runs", "curves")
    )
    first = runs[runs["cell"] == "1"]
    return {
        "augmentation": summarise(runs, first).merge(differences(runs, first, "network_final"), on="cell"),
        "augmentation_runs": runs,
        "augmentation_curves": mean_curves(curves[["cell", "run", "step", *DRAWN]]),
    }
