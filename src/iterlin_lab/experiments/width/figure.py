"""The figure of E-WIDTH."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from iterlin_lab.experiments.width.claims import POINT
from iterlin_lab.figures.panels import equivalence_margin, grouped, legend_beneath
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label

PANELS = {
    "accuracy": "test accuracy (%)",
    "difference": "difference from K = 1 (points)",
    "kernel_distance": "kernel distance from initialisation",
}


def width(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Against the channels: the accuracy of every K, what it is less K = 1, and how far kernels have moved."""
    table = tables["width"]
    figure, panels = plt.subplots(1, len(PANELS), figsize=(7, 2.9))
    for axes, (name, text) in zip(panels, PANELS.items(), strict=True):
        _lines(axes, table, name)
        axes.set_ylabel(text)
    for axes in panels[:2]:
        percent(axes)
    legend_beneath(panels[0], columns=3)
    equivalence_margin(panels[1], POINT)
    panels[2].set_yscale("log")
    return figure


def _lines(axes: Axes, table: pd.DataFrame, name: str) -> None:
    """A line a K: means with 95 % intervals. Widths of two K stand a little apart."""
    own = list(grouped(table[table["K"] != 1] if name == "difference" else table))
    for shift, (K, rows) in zip(np.linspace(0.97, 1.03, len(own)), own, strict=True):
        mean = rows[f"{name}_mean"]
        errors = (mean - rows[f"{name}_low"], rows[f"{name}_high"] - mean)
        axes.errorbar(shift * rows["channels"], mean, errors, fmt="o-", color=colour(K), capsize=2.5, label=label(K))
    axes.set_xscale("log", base=2)
    channels = sorted(table["channels"].unique())
    axes.set_xticks(channels, [f"{number}" for number in channels])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("channels")


FIGURES = {"width": width}
