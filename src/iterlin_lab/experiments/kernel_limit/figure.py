"""The figure of L-KERNEL."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from iterlin_lab.figures.panels import mean_points

Tables = Mapping[str, pd.DataFrame]
LOOKS = {"RF": ("#d55e00", "s", "random features"), "NT": ("#0072b2", "o", "neural tangents")}
RATES = {"RF": "√(n/N)", "NT": "√((n + d)/(Nd))"}


def kernel_limit(tables: Tables) -> Figure:
    """The whitened error of both kernels against N and against n, with the bounds' rates through the points."""
    table, fits = tables["kernel_limit"], tables["kernel_limit_fits"]
    figure, panels = plt.subplots(1, 2, figsize=(7, 3.0), sharey=True)
    for axes, varied, fixed in zip(panels, ("N", "n"), ("n", "N"), strict=True):
        rows = table[table["varied"] == varied]
        for kernel, points in rows.groupby("kernel"):
            fit = fits[(fits["kernel"] == kernel) & (fits["varied"] == varied)].iloc[0]
            _draw(axes, str(kernel), varied, points.sort_values(varied), fit)
        axes.set(xscale="log", yscale="log")
        axes.set_xticks(sorted(rows[varied].unique()), [f"{value:g}" for value in sorted(rows[varied].unique())])
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.set_xlabel(f"{'neurons N' if varied == 'N' else 'examples n'}, with {fixed} = {rows[fixed].iloc[0]:g}")
        axes.set_title(f"d = {rows['d'].iloc[0]:g}")
        axes.legend()
    panels[0].set_ylim(top=3 * table["error_high"].max())  # room for the legends
    panels[0].set_ylabel("‖K$^{-1/2}$ K$_N$ K$^{-1/2}$ − I‖$_{op}$")
    return figure


def _draw(axes: Axes, kernel: str, varied: str, points: pd.DataFrame, fit: pd.Series) -> None:
    color, marker, name = LOOKS[kernel]
    mean_points(axes, points[varied], points, "error", [color] * len(points), marker)
    in_words = "N$^{-1/2}$" if varied == "N" else RATES[kernel]
    axes.plot(points[varied], fit["constant_mean"] * points["bound"], color=color, label=f"{name}: ∝ {in_words}")
    if varied == "N":
        text = f"fitted: {fit['exponent_mean']:.3f} [{fit['exponent_low']:.3f}, {fit['exponent_high']:.3f}]"
        axes.plot([], [], marker, color=color, label=text.replace("-", "−"))


FIGURES = {"kernel_limit": kernel_limit}
