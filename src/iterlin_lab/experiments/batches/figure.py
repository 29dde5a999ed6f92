"""The figure of E-BATCH."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label

STYLES = {"full": "-", "mini": ":"}


def batches(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 11: full batches, mini-batches, and both at equal times ηt."""
    figure, panels = plt.subplots(1, 3, figsize=(7, 2.9), sharey=True)
    curves = tables["batches_curves"]
    for axes, way, title in zip(panels, ("full", "mini"), ("full batches", "mini-batches"), strict=False):
        _lines(axes, curves[curves["method"] == way], "step")
        axes.set_title(title)
        axes.set_xlabel("step t")
    _lines(panels[2], curves, "time")
    panels[2].set_title("both (full: solid, mini: dotted)")
    panels[2].set_xlabel("time ηt, in steps of full batches")
    panels[0].set_ylabel("test accuracy of the network (%)")
    panels[0].legend(loc="upper left")
    percent(panels[0])
    return figure


def _lines(axes: Axes, curves: pd.DataFrame, x: str) -> None:
    """Both kinds of batches at one K of full batches have its colour; mini-batches take K times the ratio."""
    for (way, K), curve in grouped(curves[curves["step"] > 0], ["method", "K"]):
        band(axes, curve[x], curve, "network_test_accuracy", colour(K), linestyle=STYLES[way], label=label(K))
    axes.set_xscale("log")


FIGURES = {"batches": batches}
