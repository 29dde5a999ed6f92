"""The tables of E-SWEEP."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from iterlin_lab.experiments.k_sweep.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.report.names import period_text
from iterlin_lab.tables import ACCURACIES, Cells, by_period, mean_curves, read_cells, summarise

BY = ["method", "K"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Every K, and truncated Gauss–Newton: a row for each, the runs, and their curves."""
    cells = sweep_cells(scale)
    runs, curves = (read_cells(layout.results, cells, table) for table in ("runs", "curves"))
    return {
        "k_sweep": summarise(runs, runs[runs["K"] == 1], BY),
        "k_sweep_runs": runs,
        "k_sweep_curves": mean_curves(curves, BY),
    }


def sweep_cells(scale: Any) -> Cells:
    """The folders of the sweep and of its baseline, below the folder of all results."""
    own = by_period(scale.k_sweep.periods, "k_sweep/", method="gradient")
    return {**own, "tgn_baseline/tgn": {"method": "TGN"}}


def metrics(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The test accuracies of every K."""
    found = tables["k_sweep"].set_index("K")[[f"{name}_mean" for name in ACCURACIES]].set_axis(ACCURACIES, axis=1)
    return {"test_accuracy": found.rename(index=period_text).to_dict("index")}
