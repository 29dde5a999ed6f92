"""The figure of E-PART."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from iterlin_lab.figures.panels import CROSS, grouped
from iterlin_lab.figures.style import colour, line_style, percent
from iterlin_lab.report.names import label

APART = 1.02  # factor in the share between two K, so that no interval hides another


def parts(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Accuracy against the share of the parameters that are trained, a line per K."""
    table = tables["parts"]
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    for place, (K, rows) in enumerate(grouped(table)):
        at = rows["share"].to_numpy() * APART**place
        mean = rows["accuracy_mean"]
        errors = (mean - rows["accuracy_low"], rows["accuracy_high"] - mean)
        look = {"color": colour(K), "linestyle": line_style(K), "label": label(K)}
        axes.errorbar(at, mean, errors, marker="o", capsize=2.5, **look)
        lost = rows["diverged"].to_numpy() > 0
        axes.plot(at[lost], mean[lost], **CROSS, color=colour(K))
    if table["diverged"].any():
        axes.plot([], [], **CROSS, color="0.35", label="some runs diverged")
    sizes = table.drop_duplicates("layers")
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    names = [f"{100 * share:.0f}\n({count:g})" for share, count in zip(sizes["share"], sizes["layers"], strict=True)]
    axes.set_xticks(sizes["share"], names)
    axes.set_xlabel("share of the parameters that is trained (%)\n(number of layers, counted from the last)")
    axes.set_ylabel("test accuracy of the trained model (%)")
    percent(axes)
    axes.legend(loc="upper left")
    return figure


FIGURES = {"parts": parts}
