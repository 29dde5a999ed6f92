"""The tables of E-DAMPCE."""

import pandas as pd

from iterlin_lab.experiments.damp_ce.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, read_cells, summarise
from iterlin_lab.tables.phases import summarise_phases, with_phases

BY = ["damping"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a λ, with differences from K = 1 of E-SWEEP; and the runs."""
    cells = {label: {"damping": float(label)} for label in scale.damp_ce.dampings}
    runs, curves = (read_cells(layout.results / "damp_ce", cells, table) for table in ("runs", "curves"))
    runs = with_phases(runs, curves, BY)
    gradient = read_cells(layout.results / "k_sweep", by_period(["1"]), "runs")
    return {
        "damp_ce": summarise(runs, gradient, BY).merge(summarise_phases(runs, BY), on=BY),
        "damp_ce_runs": runs,
    }
