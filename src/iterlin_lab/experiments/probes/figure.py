"""The figure of E-PROBE."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour, line_style, percent
from iterlin_lab.report.names import label


def probes(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 5: test accuracy of linear probes against steps, a column a layer, from the start and in full."""
    figure, panels = plt.subplots(2, 2, figsize=(9.6, 6.4), sharey="col")
    for number, column in enumerate(panels.T, 1):
        for axes, scale in zip(column, ("log", "linear"), strict=True):
            _lines(axes, tables["probes_curves"], f"layer{number}", scale)
        column[0].set_title(f"layer {number}", fontsize=9)
        column[0].set_ylabel("test accuracy of the probe (%)")
        column[1].set_ylabel("test accuracy of the probe (%)")
        percent(column[0])
    panels[0, 0].legend(loc="best")
    return figure


def _lines(axes: Axes, curves: pd.DataFrame, name: str, scale: str) -> None:
    """Every K, with a thin line at the height where it ends."""
    for K, curve in grouped(curves):
        at = curve["step"].clip(lower=1) if scale == "log" else curve["step"]
        band(axes, at, curve, name, colour(K), linestyle=line_style(K), label=label(K))
        axes.axhline(curve[f"{name}_mean"].iloc[-1], color=colour(K), linewidth=0.8, linestyle=":")
    axes.set_xscale(scale)
    axes.set_xlim(left=1 if scale == "log" else 0)
    axes.set_xlabel("step t")


FIGURES = {"probes": probes}
