"""The tables of what stands around E-SWEEP."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.sensitivity.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables import summarise


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a multiple of η and K; and the runs that diverged, those of the sweep among them."""
    axes = scale.sensitivity
    runs = pd.concat(
        [
            read_cells(layout.results / "k_sweep", scale.k_sweep.periods, "runs"),
            read_cells(layout.results / "tgn_baseline", ["tgn"], "runs"),
        ],
        ignore_index=True,
    )
    own = runs[runs["cell"].isin(axes.periods) & (runs["run"] < axes.num_seeds)]
    around = {"1": own} | {
        factor: read_cells(layout.results / "sensitivity" / factor, axes.periods, "runs") for factor in axes.factors
    }
    summaries = [
        summarise(around[factor], reference=around[factor].query("cell == '1'")).assign(factor=factor)
        for factor in sorted(around, key=float)
    ]
    return {"sensitivity": pd.concat(summaries), "diverged": diverged_runs({**around, "1": runs})}


def diverged_runs(cells: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The runs that diverged, with where and why, of tables of runs by the multiple of η that they have."""
    columns = ["cell", "run", "steps", "last_finite_step", "eta_lambda_max_at_divergence", "cause"]
    tables = [runs.loc[runs["outcome"] == "diverged", columns].assign(factor=factor) for factor, runs in cells.items()]
    return pd.concat(tables, ignore_index=True)
