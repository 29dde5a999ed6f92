"""The tables of E-SWEEP."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from iterlin_lab.experiments.k_sweep.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables import ACCURACIES, mean_curves, summarise


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Every K, and truncated Gauss–Newton: a row a cell, the runs, and their curves."""

    def sweep(table: str) -> pd.DataFrame:
        own = read_cells(layout.results / "k_sweep", scale.k_sweep.periods, table)
        tgn = read_cells(layout.results / "tgn_baseline", ["tgn"], table)
        return pd.concat([own, tgn], ignore_index=True)

    runs = sweep("runs")
    return {
        "k_sweep": summarise(runs, reference=runs[runs["cell"] == "1"]),
        "k_sweep_runs": runs,
        "k_sweep_curves": mean_curves(sweep("curves")),
    }


def metrics(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The test accuracies of every cell."""
    rows = tables["k_sweep"].iterrows()
    return {"test_accuracy": {row["cell"]: {name: row[f"{name}_mean"] for name in ACCURACIES} for _, row in rows}}
