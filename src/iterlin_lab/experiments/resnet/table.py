"""The tables of E-RESNET."""

from itertools import product

import pandas as pd

from iterlin_lab.experiments.resnet.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.statistics import exact_interval
from iterlin_lab.tables import Cells, groups, mean_curves, read_cells
from iterlin_lab.tables.summaries import differences, intervals, outcomes

DRAWN = ("network_test_accuracy", "proxy_test_accuracy")
PANEL = ["panel", "K"]
CELL = ["norm", "learning_rate", "K"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Panels and grid: a row a cell, a row a run, and the curves of the panels."""
    folder = layout.results / "resnet"
    runs, curves = (read_cells(folder, panels(scale), table) for table in ("runs", "curves"))
    tried = read_cells(folder, grid(scale), "runs")
    return {
        "resnet": _panels(runs),
        "resnet_runs": runs,
        "resnet_curves": mean_curves(curves[[*PANEL, "run", "step", *DRAWN]], PANEL),
        "resnet_grid": _grid(tried),
        "resnet_grid_runs": tried,
    }


def panels(scale: Scope) -> Cells:
    """The folders of the panels of T fig. 10."""
    return {
        f"{name}-{period}": {"panel": name, "K": float(parse_period(period))}
        for name, panel in scale.resnet.panels.items()
        for period in panel.periods
    }


def grid(scale: Scope) -> Cells:
    """The folders of the grid."""
    own = scale.resnet.grid
    return {
        f"{norm}-{rate:g}-{period}": {"norm": norm, "learning_rate": rate, "K": float(parse_period(period))}
        for norm, rate, period in product(own.norms, own.learning_rates, own.periods)
    }


def _panels(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a panel and K: how its runs ended, and the difference from K = 1 after all steps, paired by run."""
    rows, gaps = [], []
    for panel, own in runs.groupby("panel", sort=False):
        gaps.append(differences(own, own[own["K"] == 1], PANEL, "network_final").assign(panel=panel))
    for row, group in groups(runs, PANEL):
        row |= {"runs": len(group), "updates": float(group["feature_updates"].median())}
        rows.append(row | outcomes(group) | intervals(group, "network_final", "proxy_final"))
    return pd.DataFrame(rows).merge(pd.concat(gaps), on=PANEL)


def _grid(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a norm, η and K: the share that diverged with its exact interval, and the accuracy of the others."""
    rows = []
    for row, group in groups(runs, CELL):
        row |= {"runs": len(group)} | outcomes(group)
        low, high = exact_interval(row["diverged"], row["runs"])
        row |= {"share": row["diverged"] / row["runs"], "share_low": low, "share_high": high}
        rows.append(row | {"median_network_final": float(group["network_final"].median())})
    return pd.DataFrame(rows)
