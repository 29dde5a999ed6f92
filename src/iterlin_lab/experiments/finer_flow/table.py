"""The table of B-FLOW, again."""

import pandas as pd

from iterlin_lab.experiments.finer_flow.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import by_period, read_cells

COMPARED = ("network_validation_stopped", "network_final")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a K and run: what both tolerances cost, and by how much test accuracies differ."""
    folders = {"finer_flow": scale.finer_flow.periods, "k_sweep": scale.k_sweep.periods}
    both = [read_cells(layout.results / name, by_period(periods), "runs") for name, periods in folders.items()]
    table = both[0].merge(both[1], on=["K", "run"], suffixes=("", "_coarse"))
    rows = table[["K", "run", "evaluations", "evaluations_coarse", "error_estimate", "error_estimate_coarse"]]
    moved = {f"{name}_change": table[f"{name}_coarse"] - table[name] for name in COMPARED}
    return {"finer_flow": rows.assign(**moved)}
