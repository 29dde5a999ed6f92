"""The figures of E-RESNET."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label, number_text, period_text

PANELS = {"plain": "no BatchNorm, no augmentation", "normalised": "BatchNorm and augmentation"}
NORMS = {
    "none": "no BatchNorm",
    "batch": "batch statistics",
    "frozen": "statistics frozen at θ$_s$",
    "running": "running statistics",
}
MAP = "Oranges"


def resnet(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 10: test accuracy of the network against steps, and of the linear proxy that is trained in its place."""
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.9), sharey=True)
    curves = tables["resnet_curves"]
    for axes, (panel, title) in zip(panels, PANELS.items(), strict=True):
        for K, curve in grouped(curves[curves["method"] == panel]):
            at = curve["step"].clip(lower=1)
            band(axes, at, curve, "network_test_accuracy", colour(K), label=f"{label(K)}, network")
            if K > 1:
                look = {"linestyle": ":", "label": f"{label(K)}, linear proxy"}
                band(axes, at, curve, "proxy_test_accuracy", colour(K), **look)
        axes.set_xscale("log")
        axes.set_xlim(left=1)
        axes.set_xlabel("step t")
        axes.set_title(title)
        axes.legend(loc="upper left")
    panels[0].set_ylabel("test accuracy (%)")
    percent(panels[0])
    return figure


def diverged(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """How many runs diverged for every η and K, a map a norm."""
    table = tables["resnet_grid"]
    norms = table["method"].unique()
    figure, panels = plt.subplots(1, len(norms), figsize=(min(7, 2.4 * len(norms)), 2.6), sharey=True)
    for axes, norm in zip(panels, norms, strict=True):
        rows = table[table["method"] == norm].pivot(
            index="learning_rate", columns="K", values=["share", "diverged", "runs"]
        )
        axes.imshow(rows["share"].to_numpy(), cmap=MAP, vmin=0, vmax=1, origin="lower", aspect="auto")
        for (row, column), share in np.ndenumerate(rows["share"].to_numpy()):
            text = f"{rows['diverged'].iat[row, column]:g} of {rows['runs'].iat[row, column]:g}"
            axes.text(column, row, text, ha="center", va="center", color="white" if share > 0.6 else "black")
        axes.set_xticks(range(len(rows["share"].columns)), [period_text(K) for K in rows["share"].columns])
        axes.set_yticks(range(len(rows)), list(map(number_text, rows.index)))
        axes.grid(visible=False)
        axes.set_xlabel("K")
        axes.set_title(NORMS[norm])
    panels[0].set_ylabel("learning rate η")
    return figure


FIGURES = {"resnet": resnet, "resnet_grid": diverged}
