"""The tables of E-DAMPCE."""

import pandas as pd

from iterlin_lab.experiments.damp_ce.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells
from iterlin_lab.tables.phases import summarise_phases, with_phases
from iterlin_lab.tables.summaries import summarise


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A cell a λ, as differences from K = 1 of E-SWEEP."""
    runs, curves = (
        read_cells(layout.results / "damp_ce", scale.damp_ce.dampings, table) for table in ("runs", "curves")
    )
    runs = with_phases(runs, curves)
    gradient = read_cells(layout.results / "k_sweep", ["1"], "runs")
    return {
        "damp_ce": summarise(runs, reference=gradient).merge(summarise_phases(runs), on="cell"),
        "damp_ce_runs": runs.assign(cell="λ = " + runs["cell"]),
    }
