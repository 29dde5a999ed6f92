"""The figure of E-MNIST."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.experiments.mnist.claims import END
from iterlin_lab.figures.panels import band, equivalence_margin, grouped, legend_beneath, mean_points
from iterlin_lab.figures.style import colour, line_style, percent
from iterlin_lab.report.names import label, tick


def mnist(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """W fig. 1: accuracy against epochs for every K, on both sets; and the differences at the end."""
    figure, panels = plt.subplots(1, 3, figsize=(7, 3.1), width_ratios=(4, 4, 3))
    curves = tables["mnist_curves"]
    _lines(panels[0], curves, "test")
    _lines(panels[1], curves, "train")
    _differences(panels[2], tables["mnist"])
    legend_beneath(panels[0])
    return figure


def _lines(axes: Axes, curves: pd.DataFrame, split: str) -> None:
    """The model that is trained with every K."""
    for K, curve in grouped(curves):
        band(axes, curve["step"], curve, f"proxy_{split}_accuracy", colour(K), linestyle=line_style(K), label=label(K))
    axes.set_xlim(left=0)
    axes.set_xlabel("epoch")
    axes.set_ylabel(f"{'test' if split == 'test' else 'training'} accuracy (%)")
    percent(axes)


def _differences(axes: Axes, table: pd.DataFrame) -> None:
    """Differences from K = 1 at the end; K = ∞ is far off."""
    rows = table[(table["K"] > 1) & np.isfinite(table["K"])]
    equivalence_margin(axes, END)
    mean_points(axes, range(len(rows)), rows, "proxy_final_difference", [colour(K) for K in rows["K"]])
    axes.set_xticks(range(len(rows)), list(map(tick, rows["K"])))
    axes.set_xlabel("steps between\nfeature updates, K")
    axes.set_ylabel("test accuracy at the end,\ndifference from K = 1 (points)")
    percent(axes)
    axes.legend(loc="best")


FIGURES = {"mnist": mnist}
