"""The figures of E-STABLE."""

from collections.abc import Mapping
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, PercentFormatter

from iterlin_lab.figures.panels import band, grouped, halves, legend_beneath
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label, number_text, period_text

BOUND = 2  # on ηλ_max
DODGE = 1.07  # between the lines of two K, which often coincide
MARKERS = "osD^vPX*"  # neighbouring K have nearly one colour
MAP = "Oranges"
LINE = "#0072b2"
OF_SGD = {"color": "#cc79a7", "linestyle": "--"}


def stability(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """After W fig. 1: the share of runs that diverged for every pair of η and K, and the same against ηλ_max."""
    figure = plt.figure(figsize=(7, 5.4))
    upper, lower = (half.subplots() for half in halves(figure))
    runs, table = tables["stability_runs"], tables["stability"]
    runs, table = runs[runs["own"]], table[table["own"]]
    _map(upper, table)
    _bound(upper, runs["max_eigenvalue"])
    _products(upper, table)
    upper.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    _lines(lower, table)
    return figure


def stability_other(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """The same map from the other initialisation."""
    figure, axes = plt.subplots(figsize=(5.4, 2.9))
    runs, table = tables["stability_runs"], tables["stability"]
    runs, table = (each[~each["own"] & (each["method"] == "gd")] for each in (runs, table))
    _map(axes, table)
    (name,) = table["initialisation"].unique()
    bound = (BOUND / runs["max_eigenvalue"]).median()
    axes.set_title(f"{name}: ηλ_max = {BOUND} at η = {bound:.2g}")
    return figure


def stability_curves(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """After W fig. 1 and 2: learning curves at the smallest η and at ten times that, with SGD beside the first."""
    curves = tables["stability_curves"]
    rates = np.sort(curves["learning_rate"].unique())
    figure, panels = plt.subplots(1, 2, figsize=(7, 3.1), sharey=True)
    for axes, rate in zip(panels, rates, strict=True):
        found = grouped(curves[curves["learning_rate"] == rate], ["method", "K"])
        for ((method, K), curve), marker in zip(found, cycle(MARKERS), strict=False):
            style = {"color": colour(K), "marker": marker, "markevery": 5} if method == "gd" else OF_SGD
            name = label(K) if method == "gd" else "SGD, per step"
            band(axes, curve["step"], curve, "network_test_accuracy", label=name, **style)
        axes.set_title(f"η = {number_text(rate)}")
        axes.set_xlabel("step t")
    panels[0].set_ylabel("test accuracy of the network (%)")
    panels[0].set_ylim(bottom=0)
    percent(panels[0])
    legend_beneath(panels[0])
    return figure


def _map(axes: Axes, table: pd.DataFrame) -> None:
    """The share as colour, and the counts."""
    shares = table.pivot(index="learning_rate", columns="K", values="share")
    x, y = (_places(values.to_numpy()) for values in (shares.columns, shares.index))
    edges = _edges(x), _edges(y)
    mesh = axes.pcolormesh(*edges, shares.to_numpy(), cmap=MAP, vmin=0, vmax=1, edgecolors="white", linewidth=1.5)
    bar = axes.figure.colorbar(mesh, ax=axes, format=PercentFormatter(1, symbol=""))
    bar.set_label("runs that diverged (%)")
    at = {"x": dict(zip(shares.columns, x, strict=True)), "y": dict(zip(shares.index, y, strict=True))}
    for row in table.to_dict("records"):
        text, shade = f"{row['diverged']} of {row['runs']}", "white" if row["share"] > 0.6 else "black"
        place = at["x"][row["K"]], at["y"][row["learning_rate"]]
        box = {"facecolor": mesh.to_rgba(row["share"]), "edgecolor": "none", "pad": 1}  # in front of the lines
        axes.text(*place, text, ha="center", va="center", color=shade, zorder=4, bbox=box)
    axes.set(xscale="log", yscale="log", xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
    axes.set_xticks(x, list(map(period_text, shares.columns.to_numpy())))
    axes.set_yticks(y, list(map(number_text, shares.index)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.grid(visible=False)
    axes.set_xlabel("steps between feature updates, K")
    axes.set_ylabel("learning rate η")


def _places(values: np.ndarray) -> np.ndarray:
    """Where values lie on a logarithmic axis: K = ∞ one decade beyond the others."""
    finite = values[np.isfinite(values)]
    return np.where(np.isfinite(values), values, 10 * finite.max(initial=1))


def _edges(places: np.ndarray) -> np.ndarray:
    """The borders of cells around the places, halfway between them on the logarithmic axis."""
    at = np.log10(places)
    inner = (at[1:] + at[:-1]) / 2
    first, last = (inner[0] - at[0], at[-1] - inner[-1]) if len(inner) else (0.25, 0.25)
    return 10 ** np.concatenate([[at[0] - first], inner, [at[-1] + last]])


def _bound(axes: Axes, eigenvalues: pd.Series) -> None:
    """The η with ηλ_max = 2 at initialisation, of the median run and the middle half of runs, even off the grid."""
    rates = BOUND / eigenvalues.quantile([0.25, 0.75])
    axes.axhspan(rates.min(), rates.max(), color=LINE, alpha=0.2, linewidth=0, zorder=2)
    axes.axhline(BOUND / eigenvalues.median(), color=LINE, zorder=3, label=f"ηλ_max = {BOUND}, and half of the runs")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, rates.min() / DODGE), max(high, rates.max() * DODGE))


def _products(axes: Axes, table: pd.DataFrame) -> None:
    """Diagonals, a decade of ηK apart, from the lower left to the upper right."""
    finite, (left, right) = table[np.isfinite(table["K"])], axes.get_xlim()
    products, x = np.log10(finite["eta_k"]), np.array([left, min(right, 10**0.5 * finite["K"].max())])
    decades = np.arange(np.ceil(products.min()), np.floor(products.max()) + 1)
    style = {"color": "0.3", "linestyle": "--", "linewidth": 0.8, "zorder": 2}
    for decade in decades:
        axes.plot(x, 10**decade / x, **style)
    axes.plot(
        [], [], **style, label=f"ηK = {', '.join(number_text(10.0**decade) for decade in decades)} (to the upper right)"
    )


def _lines(axes: Axes, table: pd.DataFrame) -> None:
    """Shares with their exact intervals against the median ηλ_max, a line a K."""
    periods = np.sort(table["K"].unique())
    for number, K in enumerate(periods):
        rows = table[table["K"] == K].sort_values("eta_lambda_max")
        share = rows["share"]
        errors = share - rows["share_low"], rows["share_high"] - share
        x = rows["eta_lambda_max"] * DODGE ** (number - (len(periods) - 1) / 2)
        marker = MARKERS[number % len(MARKERS)]
        bars = axes.errorbar(x, share, errors, fmt=f"{marker}-", color=colour(K), capsize=2, label=label(K))
        for part in bars[2]:
            part.set_alpha(0.35)
    axes.axvline(BOUND, color=LINE, zorder=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda product, _: number_text(product))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("median ηλ_max at initialisation")
    axes.set_ylabel("runs that diverged (%)")
    percent(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


FIGURES = {"stability": stability, "stability_other": stability_other, "stability_curves": stability_curves}
