"""The tables of E-RESNET."""

from itertools import product

import pandas as pd

from iterlin_lab.experiments.resnet.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import Cells, by_period, groups, mean_curves, read_cells, summarise
from iterlin_lab.tables.summaries import differences, diverging

DRAWN = ("network_test_accuracy", "proxy_test_accuracy")
PANEL = ["method", "K"]  # the name of the panel
CELL = ["method", "learning_rate", "K"]  # the norm


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Panels and grid: a row a cell, a row a run, and the curves of the panels."""
    folder = layout.results / "resnet"
    runs, curves = (read_cells(folder, panels(scale), table) for table in ("runs", "curves"))
    tried = read_cells(folder, grid(scale), "runs")
    return {
        "resnet": _summary(runs),
        "resnet_runs": runs,
        "resnet_curves": mean_curves(curves[[*PANEL, "run", "step", *DRAWN]], PANEL),
        "resnet_grid": pd.DataFrame(row | diverging(group) for row, group in groups(tried, CELL)),
        "resnet_grid_runs": tried,
    }


def panels(scale: Scope) -> Cells:
    """The folders of the panels of T fig. 10."""
    own = scale.resnet.panels.items()
    found = [by_period(panel.periods, f"{name}-", method=name) for name, panel in own]
    return {folder: cell for cells in found for folder, cell in cells.items()}


def grid(scale: Scope) -> Cells:
    """The folders of the grid."""
    own = scale.resnet.grid
    pairs = product(own.norms, own.learning_rates)
    found = [by_period(own.periods, f"{norm}-{rate:g}-", method=norm, learning_rate=rate) for norm, rate in pairs]
    return {folder: cell for cells in found for folder, cell in cells.items()}


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a panel and K, with the difference from K = 1 after all steps, paired by run."""
    found = []
    for _, own in runs.groupby("method", sort=False):
        first = own[own["K"] == 1]
        found.append(summarise(own, first, PANEL).merge(differences(own, first, PANEL, "network_final"), on=PANEL))
    return pd.concat(found, ignore_index=True)
