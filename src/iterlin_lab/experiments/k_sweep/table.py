"""The tables of E-SWEEP."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from iterlin_lab.experiments.k_sweep.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.report.names import period_key
from iterlin_lab.tables import ACCURACIES, Cells, by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.gaps import largest_gaps

BY = ["method", "K"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Every K, and truncated Gauss–Newton: a row for each, the runs, and their curves."""
    cells = sweep_cells(scale)
    runs, curves = (read_cells(layout.results, cells, table) for table in ("runs", "curves"))
    runs = runs.merge(gaps(curves), on=["K", "run"], how="left")
    return {
        "k_sweep": summarise(runs, runs[runs["K"] == 1], BY),
        "k_sweep_runs": runs,
        "k_sweep_curves": mean_curves(curves, BY),
    }


def gaps(curves: pd.DataFrame) -> pd.DataFrame:
    """Per finite K and run, the largest gap of the test curve from that of K = 1, from step K on, where T reads it."""
    timed = curves.assign(time=curves["step"])
    first, later = timed[timed["K"] == 1], timed[(timed["K"] > 1) & np.isfinite(timed["K"])]
    found = [
        largest_gaps(curve, first).rename_axis("run").reset_index(name="largest_gap").assign(K=K)
        for K, curve in later[later["time"] >= later["K"]].groupby("K")
    ]
    return pd.concat(found) if found else pd.DataFrame(columns=["run", "largest_gap", "K"], dtype=float)


def sweep_cells(scale: Any) -> Cells:
    """The folders of the sweep and of its baseline, below the folder of all results."""
    own = by_period(scale.k_sweep.periods, "k_sweep/", method="gradient")
    return {**own, "tgn_baseline/tgn": {"method": "TGN"}}


def metrics(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The test accuracies of every K."""
    found = tables["k_sweep"].set_index("K")[[f"{name}_mean" for name in ACCURACIES]].set_axis(ACCURACIES, axis=1)
    return {"test_accuracy": found.rename(index=period_key).to_dict("index")}
