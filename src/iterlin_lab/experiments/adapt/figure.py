"""The figure of E-ADAPT."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label

ACCURACY = "network_validation_stopped"
COSTS = {"feature_updates": "feature updates", "evaluations": "evaluations of the gradient"}
# Apart from the colours of K, and told apart without colour by their markers.
SCHEDULES = (("#cc79a7", "D"), ("#d55e00", "s"), ("#0072b2", "^"), ("#e69f00", "v"), ("0.45", "P"), ("#009e73", "*"))


def adapt(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Test accuracy against what it costs: fixed K as a line, and every schedule as a point of its own."""
    figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.8), sharey=True)
    table = tables["adapt"]
    fixed = table[np.isfinite(table["K"])].sort_values("K")
    others = table[table["K"].isna()]
    for axes, (cost, text) in zip(panels, COSTS.items(), strict=True):
        axes.plot(fixed[f"{cost}_mean"], fixed[f"{ACCURACY}_mean"], color="0.75", linewidth=0.8, zorder=1)
        for row in fixed.to_dict("records"):
            _point(axes, row, cost, colour(row["K"]), "o", label(row["K"]))
        for row, (shade, marker) in zip(others.to_dict("records"), SCHEDULES, strict=False):
            _point(axes, row, cost, shade, marker, row["method"])
        axes.set_xscale("log")
        axes.set_xlabel(text)
    panels[0].set_ylabel("test accuracy of the network (%)")
    percent(panels[0])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    return figure


def _point(axes: Axes, row: dict, cost: str, shade: object, marker: str, name: str) -> None:
    """A mean with its 95 % intervals both ways."""
    x, y = row[f"{cost}_mean"], row[f"{ACCURACY}_mean"]
    across = [[x - row[f"{cost}_low"]], [row[f"{cost}_high"] - x]]
    along = [[y - row[f"{ACCURACY}_low"]], [row[f"{ACCURACY}_high"] - y]]
    axes.errorbar(
        x, y, along, np.maximum(across, 0), fmt=marker, color=shade, capsize=2, elinewidth=0.8, label=name, zorder=3
    )


FIGURES = {"adapt": adapt}
