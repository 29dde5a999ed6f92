"""The figure of E-VIT."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.experiments.vit.claims import POINT
from iterlin_lab.figures.panels import band, equivalence_margin, grouped, mean_points
from iterlin_lab.figures.style import colour, line_style, percent
from iterlin_lab.report.names import label, tick


def vit(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Accuracy against steps for every K, its difference from K = 1, and how far the kernel has moved."""
    figure, panels = plt.subplots(1, 3, figsize=(7, 2.8), width_ratios=(5, 3, 3))
    table = tables["vit"]
    _curves(panels[0], tables["vit_curves"])
    _differences(panels[1], table[table["K"] > 1])
    _distances(panels[2], table, tables["vit_runs"])
    return figure


def _curves(axes: Axes, curves: pd.DataFrame) -> None:
    """The network of every finite K; for K = ∞ the proxy, which is what was trained."""
    for K, curve in grouped(curves):
        name = f"{'proxy' if np.isinf(K) else 'network'}_test_accuracy"
        at = curve["step"].clip(lower=1)  # step 0 has no place on a logarithmic axis
        band(axes, at, curve, name, colour(K), linestyle=line_style(K), label=label(K))
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_xlabel("step t")
    axes.set_ylabel("test accuracy of the trained model (%)")
    percent(axes)
    axes.legend(loc="upper left")


def _differences(axes: Axes, table: pd.DataFrame) -> None:
    equivalence_margin(axes, POINT)
    _points(axes, table, "accuracy_difference")
    axes.set_ylabel("difference from K = 1, paired\n(points; stopped on validation data)")
    percent(axes)
    axes.legend(loc="best")


def _distances(axes: Axes, table: pd.DataFrame, runs: pd.DataFrame) -> None:
    _points(axes, table, "kernel_distance")
    for x, (K, group) in enumerate(grouped(runs)):
        axes.plot(np.full(len(group), x - 0.2), group["kernel_distance"], "_", color=colour(K), alpha=0.6)
    axes.plot([], [], "_", color="0.35", label="single runs")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("kernel distance of the network's NTK\nfrom initialisation, at the end")
    axes.legend(loc="best")


def _points(axes: Axes, table: pd.DataFrame, name: str) -> None:
    at = range(len(table))
    mean_points(axes, at, table, name, [colour(K) for K in table["K"]])
    axes.set_xticks(at, list(map(tick, table["K"])))
    axes.set_xlim(-0.5, len(table) - 0.5)
    axes.set_xlabel("steps between\nfeature updates, K")


FIGURES = {"vit": vit}
