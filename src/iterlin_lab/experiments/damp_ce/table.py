"""The tables of E-DAMPCE."""

import pandas as pd

from iterlin_lab.experiments.damp_ce.settings import DampCE, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import Cells, by_period, read_cells, summarise
from iterlin_lab.tables.phases import summarise_phases, with_phases

BY = ["method", "damping", "after"]
SMALLEST = 1e5  # K from which accuracies may fall with K: up to 10⁴ they do not (E-SWEEP-1)


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a λ, with differences from K = 1 of E-SWEEP; the runs; and the runs of both dials, λ and K."""
    cells = _cells(scale.damp_ce)
    runs, curves = (read_cells(layout.results / "damp_ce", cells, table) for table in ("runs", "curves"))
    runs = with_phases(runs, curves, BY)
    sweep = read_cells(layout.results / "k_sweep", by_period(scale.k_sweep.periods, method="gradient"), "runs")
    same = sweep[sweep["run"] < scale.damp_ce.num_seeds]
    large = same[(same["K"] >= SMALLEST) & (same["K"] < float("inf"))]
    return {
        "damp_ce": summarise(runs, sweep[sweep["K"] == 1], BY).merge(summarise_phases(runs, BY), on=BY),
        "damp_ce_runs": runs,
        "damp_ce_dials": pd.concat([runs, large], ignore_index=True)[
            [*BY, "K", "run", "outcome", "phases", "network_final"]
        ],
    }


def _cells(own: DampCE) -> Cells:
    """When λ acts is the word in `method`; `after` so many phases it switches."""
    switched = {"damping": float(own.switch.damping), "after": own.switch.after}
    always = {label: {"method": "always", "damping": float(label), "after": float("nan")} for label in own.dampings}
    return {**always, own.early: {"method": "early", **switched}, own.late: {"method": "late", **switched}}
