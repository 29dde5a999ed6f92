"""The tables of E-BATCH."""

import pandas as pd

from iterlin_lab.experiments.batches.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.gaps import largest_gaps
from iterlin_lab.tables.summaries import differences

BY = ["method", "K"]  # full batches or mini-batches, and K of the full ones


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs, with the gaps of mini-batches from full ones; a row a K, with differences from K = 1; curves.

    `time` counts steps of full batches: one of them is as long as `ratio` of mini-batches.
    """
    experiment = scale.batches
    cells = {**by_period(experiment.periods, "full-", method="full")}
    cells |= by_period(experiment.periods, "mini-", method="mini")
    runs, curves = (read_cells(layout.results / "batches", cells, table) for table in ("runs", "curves"))
    curves["time"] = curves["step"] / curves["method"].map({"mini": experiment.ratio, "full": 1})
    runs = runs.merge(gaps(curves), on=[*BY, "run"], how="left").assign(fit_loss=scale.training.fit_loss)
    summaries = []
    for _, own in runs.groupby("method", sort=False):
        first = own[own["K"] == 1]
        summaries.append(summarise(own, first, BY).merge(differences(own, first, BY, "network_final"), on=BY))
    gap = runs.groupby(BY, sort=False)["largest_gap"].mean().reset_index()
    drawn = mean_curves(curves[[*BY, "run", "step", "network_test_accuracy"]], BY)
    return {
        "batches": pd.concat(summaries, ignore_index=True).merge(gap, on=BY),
        "batches_runs": runs,
        "batches_curves": drawn.merge(curves[[*BY, "step", "time"]].drop_duplicates(), on=[*BY, "step"]),
    }


def gaps(curves: pd.DataFrame) -> pd.DataFrame:
    """Per K and run, the largest gap of the curve with mini-batches from that with full ones, at equal times."""
    full, found = curves[curves["method"] == "full"], []
    for K, mini in curves[curves["method"] == "mini"].groupby("K"):
        gap = largest_gaps(mini, full[full["K"] == K]).rename_axis("run").reset_index(name="largest_gap")
        found.append(gap.assign(method="mini", K=K))
    return pd.concat(found)
