"""The tables of E-SWEEP."""

import pandas as pd

from iterlin_lab.config import Scale
from iterlin_lab.layout import Layout
from iterlin_lab.results import read_cells
from iterlin_lab.tables.summaries import diverged_runs, flow_errors, mean_curves, summarise


def tables(scale: Scale, layout: Layout) -> dict[str, pd.DataFrame]:
    """The sweep, what is around it, and what its flow is worth."""
    periods, axes = scale.k_sweep.periods, scale.sensitivity

    def sweep(table: str) -> pd.DataFrame:
        tgn = read_cells(layout.results, ["tgn"], table)
        return pd.concat([read_cells(layout.results / "k_sweep", periods, table), tgn], ignore_index=True)

    runs = sweep("runs")
    own = runs[runs["cell"].isin(axes.periods) & (runs["run"] < axes.num_seeds)]
    around = {"1": own} | {
        factor: read_cells(layout.results / "sensitivity" / factor, axes.periods, "runs") for factor in axes.factors
    }
    sensitivity = [
        summarise(around[factor], reference=around[factor].query("cell == '1'")).assign(factor=factor)
        for factor in sorted(around, key=float)
    ]
    return {
        "k_sweep": summarise(runs, reference=runs[runs["cell"] == "1"]),
        "k_sweep_runs": runs,
        "k_sweep_curves": mean_curves(sweep("curves")),
        "sensitivity": pd.concat(sensitivity),
        "diverged": diverged_runs({**around, "1": runs}),
        "flow_check": flow_errors(pd.read_csv(layout.results / "flow_check.csv")),
    }
