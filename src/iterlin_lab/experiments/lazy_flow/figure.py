"""The figure of L-LAZY."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from iterlin_lab.figures.panels import band, legend_beneath

MARKERS = "osD^vPX*"


def lazy_flow(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """The training losses of the widest networks, and how both measures fall with N."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7, 2.9))
    points, curves = tables["lazy_flow"], tables["lazy_flow_curves"]
    exponents = sorted(points["exponent"].unique())
    shades = mpl.colormaps["plasma"](np.linspace(0, 0.85, len(exponents)))
    colours = dict(zip(exponents, shades, strict=True))
    _losses(left, curves, colours)
    left.set_title(f"N = {points['width'].max()}")
    predicted = tables["lazy_flow_fits"].set_index("exponent")["predicted"]
    for axes, name in ((middle, "distance"), (right, "kernel")):
        _against_width(axes, points, predicted, name, colours)
    middle.set_ylabel("largest distance of f and f_lin")
    right.set_ylabel("largest ‖K_t − K₀‖ / ‖K₀‖")
    legend_beneath(middle)
    return figure


def _losses(axes: Axes, curves: pd.DataFrame, colours: dict[float, Any]) -> None:
    for exponent, curve in curves.groupby("exponent"):
        band(axes, curve["time"], curve, "network", colours[float(str(exponent))])
    linear = curves[curves["exponent"] == curves["exponent"].min()]  # the same for all γ
    axes.plot(linear["time"], linear["linear_mean"], "--", color="black", linewidth=1.0, label="f_lin, all γ")
    axes.set(xscale="log", yscale="log", xlabel="time γ²Nt", ylabel="training loss")
    axes.legend(loc="lower left")


def _against_width(
    axes: Axes, points: pd.DataFrame, predicted: pd.Series, name: str, colours: dict[float, Any]
) -> None:
    """Geometric means with 95 % intervals; dotted, what we expect, through the widest networks."""
    for (exponent, rows), marker in zip(points.groupby("exponent"), MARKERS, strict=False):
        p = float(str(exponent))
        mean = rows[f"{name}_mean"]
        errors = mean - rows[f"{name}_low"], rows[f"{name}_high"] - mean
        axes.errorbar(
            rows["width"], mean, errors, fmt=f"{marker}-", color=colours[p], capsize=2, label=f"γ = $N^{{-{p:g}}}$"
        )
        theory = mean.iloc[-1] * (rows["width"] / rows["width"].iloc[-1]) ** predicted[p]
        axes.plot(rows["width"], theory, ":", color="0.3", linewidth=1.0, zorder=1)
    axes.plot([], [], ":", color="0.3", linewidth=1.0, label="$N^{-2(1-p)}$ for γ = $N^{-p}$")
    axes.set(xscale="log", yscale="log", xlabel="neurons N")
    axes.set_xticks(widths := sorted(points["width"].unique()), [f"{width}" for width in widths])
    axes.xaxis.set_minor_locator(NullLocator())


FIGURES = {"lazy_flow": lazy_flow}
