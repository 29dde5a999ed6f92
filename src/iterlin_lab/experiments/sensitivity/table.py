"""The tables of what stands around E-SWEEP."""

from typing import Any

import pandas as pd

from iterlin_lab.experiments.k_sweep.table import sweep_cells
from iterlin_lab.experiments.sensitivity.settings import INITIALISATIONS, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.tables import by_period, read_cells, summarise

BY = ["factor", "initialisation"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a variant and K; and the runs that diverged, runs of the sweep among them.

    A variant is a multiple of η, 1 for the sweep's own, and an initialisation.
    """
    axes, folder = scale.sensitivity, layout.results
    own = {"factor": 1.0, "initialisation": scale.net.initialisation}
    sweep = read_cells(folder, sweep_cells(scale), "runs").assign(**own)
    again = [
        by_period(axes.periods, f"sensitivity/{variant}/", method="gradient", **own | _changed(variant))
        for variant in axes.variants
    ]
    others = pd.concat([read_cells(folder, cells, "runs") for cells in again])
    same = sweep[sweep["K"].isin([*map(parse_period, axes.periods)]) & (sweep["run"] < axes.num_seeds)]
    around = pd.concat([same, others]).groupby(BY, sort=False)
    summaries = [summarise(runs, runs[runs["K"] == 1], [*BY, "K"]) for _, runs in around]
    return {"sensitivity": pd.concat(summaries), "diverged": diverged_runs(pd.concat([sweep, others]))}


def _changed(variant: str) -> dict[str, Any]:
    return {"initialisation": variant} if variant in INITIALISATIONS else {"factor": float(variant)}


def diverged_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that diverged, with where and why."""
    columns = ["method", *BY, "K", "run", "steps", "last_finite_step", "eta_lambda_max_at_divergence", "cause"]
    return runs.loc[runs["outcome"] == "diverged", columns]
