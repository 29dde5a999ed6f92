"""The table of B-FLOW, again."""

import pandas as pd

from iterlin_lab.experiments.finer_flow.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import read_cells

COMPARED = ("network_validation_stopped", "network_final")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a K and run: what both tolerances cost, and by how much test accuracies differ."""
    finer = scale.finer_flow
    both = [read_cells(layout.results / name, finer.periods, "runs") for name in ("finer_flow", "k_sweep")]
    table = both[0].merge(both[1], on=["cell", "run"], suffixes=("", "_coarse"))
    rows = table[["cell", "run", "evaluations", "evaluations_coarse", "error_estimate", "error_estimate_coarse"]]
    moved = {f"{name}_change": table[f"{name}_coarse"] - table[name] for name in COMPARED}
    return {"finer_flow": rows.assign(**moved)}
