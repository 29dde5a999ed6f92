"""The figure of L-DECAY."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import grouped

COLOURS = ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7")
MARKERS = "osD^vPX*"
LINEARISED = "linearised"
DRAWN = 1e-16  # of the first loss; below it is rounding


def decay(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Every trajectory against the bound, and the rate of f_lin at the end against the rate of the bound."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.1), width_ratios=(5, 4))
    _trajectories(left, tables["decay_curves"])
    _rates(right, tables["decay_runs"])
    return figure


def _trajectories(axes: Axes, curves: pd.DataFrame) -> None:
    for number, (exponent, shown) in enumerate(grouped(curves, "exponent")):
        colour = COLOURS[number % len(COLOURS)]
        for _, curve in shown.groupby(["size", "run"]):
            axes.plot(curve["scaled_time"], np.exp(curve["log_loss"]), color=colour, linewidth=0.7, alpha=0.6)
        axes.plot([], [], color=colour, label="f_lin" if pd.isna(exponent) else f"f, γ = $N^{{-{exponent:g}}}$")
    end = np.array([0, curves["scaled_time"].max()])
    axes.plot(end, np.exp(-end), "--", color="black", zorder=4, label="bound exp(−2λt)")
    axes.set(yscale="log", xlabel="2λt", ylabel="training loss, L(t)/L(0)", ylim=(DRAWN, 3))
    axes.legend(loc="lower left")


def _rates(axes: Axes, runs: pd.DataFrame) -> None:
    linear = runs[runs["method"] == LINEARISED]
    for number, (size, rows) in enumerate(linear.groupby("size")):
        marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
        axes.plot(rows["expected"], rows["rate"], marker, color=colour, alpha=0.7, label=f"n = {size}")
    ends = np.array([linear["expected"].min() / 1.2, linear["expected"].max() * 1.2])
    axes.plot(ends, ends, "--", color="black", linewidth=1.0, zorder=1, label="equal")
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("2σ_min(J₀)²/(nN)")
    axes.set_ylabel("rate of f_lin at the end, over γ²N")
    axes.legend(loc="upper left")


FIGURES = {"decay": decay}
