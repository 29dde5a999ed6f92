"""The tables of what stands around E-SWEEP."""

import pandas as pd

from iterlin_lab.experiments.k_sweep.table import sweep_cells
from iterlin_lab.experiments.sensitivity.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.tables import by_period, read_cells, summarise


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a multiple of η and K; and the runs that diverged, runs of the sweep among them."""
    axes, folder = scale.sensitivity, layout.results
    sweep = read_cells(folder, sweep_cells(scale), "runs").assign(factor=1.0)
    again = [
        by_period(axes.periods, f"sensitivity/{factor}/", method="gradient", factor=float(factor))
        for factor in axes.factors
    ]
    rescaled = pd.concat([read_cells(folder, cells, "runs") for cells in again])
    own = sweep[sweep["K"].isin([*map(parse_period, axes.periods)]) & (sweep["run"] < axes.num_seeds)]
    around = pd.concat([own, rescaled]).groupby("factor")
    summaries = [summarise(runs, runs[runs["K"] == 1], ["factor", "K"]) for _, runs in around]
    return {"sensitivity": pd.concat(summaries), "diverged": diverged_runs(pd.concat([sweep, rescaled]))}


def diverged_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that diverged, with where and why."""
    columns = ["method", "factor", "K", "run", "steps", "last_finite_step", "eta_lambda_max_at_divergence", "cause"]
    return runs.loc[runs["outcome"] == "diverged", columns]
