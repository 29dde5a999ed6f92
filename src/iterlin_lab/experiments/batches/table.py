"""The tables of E-BATCH."""

import pandas as pd

from iterlin_lab.experiments.batches.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables.gaps import largest_gaps
from iterlin_lab.tables.summaries import differences, mean_curves, summarise

WAYS = ("full", "mini")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Runs, those of mini-batches with their gaps from full ones; a row a cell, with differences from K = 1; curves.

    `time` counts steps of full batches: one of them is as long as `ratio` of mini-batches.
    """
    experiment = scale.batches
    cells = {way: [f"{way}-{period}" for period in experiment.periods] for way in WAYS}

    def read(table: str) -> pd.DataFrame:
        return read_cells(layout.results / "batches", [*cells["full"], *cells["mini"]], table)

    runs, curves = read("runs"), read("curves")
    mini = curves["cell"].str.startswith("mini")
    curves["time"] = curves["step"] / mini.map({True: experiment.ratio, False: 1})
    runs = runs.merge(gaps(curves, experiment.periods), on=["cell", "run"], how="left")
    summaries = []
    for way in WAYS:
        own, first = runs[runs["cell"].isin(cells[way])], runs[runs["cell"] == f"{way}-1"]
        summaries.append(summarise(own, first).merge(differences(own, first, "network_final"), on="cell"))
    gap = runs.groupby("cell", sort=False)["largest_gap"].mean().reset_index()
    drawn = mean_curves(curves[["cell", "run", "step", "network_test_accuracy"]])
    return {
        "batches": pd.concat(summaries, ignore_index=True).merge(gap, on="cell"),
        "batches_runs": runs,
        "batches_curves": drawn.merge(curves[["cell", "step", "time"]].drop_duplicates(), on=["cell", "step"]),
    }


def gaps(curves: pd.DataFrame, periods: list[str]) -> pd.DataFrame:
    """Per K and run, the largest gap of the curve with mini-batches from that with full ones, at equal times."""
    by_cell = dict(list(curves.groupby("cell")))
    found = [
        largest_gaps(by_cell[f"mini-{period}"], by_cell[f"full-{period}"])
        .rename_axis("run")
        .reset_index(name="largest_gap")
        .assign(cell=f"mini-{period}")
        for period in periods
    ]
    return pd.concat(found)
