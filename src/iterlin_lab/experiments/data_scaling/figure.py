"""The figure of E-DATA."""

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from iterlin_lab.figures.panels import CROSS, grouped, legend_beneath
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label

CONTROL = {"linestyle": "--", "markerfacecolor": "white"}
APART = 1.025  # factor in n between neighbours, so that no interval hides another


def scaling(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 4: test error against n with the exponents of its power laws; and the difference from K = 1."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.9))
    _errors(left, tables["data_scaling"], tables["data_scaling_slopes"])
    _differences(right, tables["data_scaling"])
    legend_beneath(left, columns=2, title="exponent of n in the test error")
    return figure


def _errors(axes: Axes, table: pd.DataFrame, slopes: pd.DataFrame) -> None:
    for method, K, at, rows in _lines(table):
        law = _exponent(slopes[(slopes["method"] == method) & (slopes["K"] == K)])
        _line(axes, at, rows, "error", f"{_name(method, K)}: {law}", **_look(method, K))
        lost = (rows["diverged"] > 0).to_numpy()
        axes.plot(at[lost], rows["error_mean"].to_numpy()[lost], **CROSS, color=colour(K))
    if table["diverged"].any():
        axes.plot([], [], **CROSS, color="0.35", label="some runs diverged")
    axes.set_yscale("log")
    axes.set_ylabel("test error of the trained model (%)")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    percent(axes)
    _size_axis(axes, table)


def _differences(axes: Axes, table: pd.DataFrame) -> None:
    for method, K, at, rows in _lines(table):
        if (method, K) != ("gradient", 1):
            _line(axes, at, rows, "difference", _name(method, K), **_look(method, K))
    axes.axhline(0, color=colour(1), linewidth=0.8)
    axes.set_ylabel("difference from K = 1 in test accuracy, paired\n(points; stopped on validation data)")
    percent(axes)
    _size_axis(axes, table)


def _lines(table: pd.DataFrame) -> Iterator[tuple[str, float, np.ndarray, pd.DataFrame]]:
    """The method and its K, where the points are drawn, and the rows."""
    groups = list(grouped(table, ["method", "K"]))
    for place, ((method, K), rows) in zip(np.arange(len(groups)) - (len(groups) - 1) / 2, groups, strict=True):
        yield method, K, rows["n"].to_numpy() * APART**place, rows


def _line(axes: Axes, at: np.ndarray, rows: pd.DataFrame, name: str, text: str, **look: Any) -> None:
    """Means with their intervals."""
    mean, low, high = (rows[f"{name}_{part}"] for part in ("mean", "low", "high"))
    axes.errorbar(at, mean, (mean - low, high - mean), label=text, capsize=2.5, **look)


def _look(method: str, K: float) -> dict[str, Any]:
    look = {"color": colour(K), "marker": "s" if np.isinf(K) else "o", "linestyle": "-"}
    return look | (CONTROL if method == "control" else {})


def _name(method: str, K: float) -> str:
    return "K = 1, other η (control)" if method == "control" else label(K)


def _exponent(slopes: pd.DataFrame) -> str:
    mean, high = slopes[["slope_mean", "slope_high"]].iloc[0]
    return "–" if pd.isna(mean) else f"{mean:.2f} ± {high - mean:.2f}".replace("-", "−")


def _size_axis(axes: Axes, table: pd.DataFrame) -> None:
    sizes = sorted(set(table["n"]))
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xlabel("training examples n")


FIGURES = {"data_scaling": scaling}
