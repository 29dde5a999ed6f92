"""The figure of E-DIALS."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import grouped
from iterlin_lab.figures.style import percent

LOOKS = {
    "K": ("0.2", "o"),
    "λ": ("#d55e00", "s"),
    "α": ("#0072b2", "^"),
    "width": ("#009e73", "D"),
    "η": ("#cc79a7", "v"),
}
PANELS = {
    "kernel_distance": "kernel distance from initialisation",
    "alignment": "alignment of the kernel with the labels",
}


def dials(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """A point a value of a dial: its accuracy over how far its kernel has moved, and over where it has moved to."""
    table = tables["dials"].dropna(subset="accuracy_mean")
    figure, panels = plt.subplots(1, len(PANELS), figsize=(7, 3.4), sharey=True)
    for axes, (name, text) in zip(panels, PANELS.items(), strict=True):
        for dial, rows in grouped(table, "dial"):
            _points(axes, rows.sort_values(f"{name}_mean"), name, dial)
        axes.set_xlabel(text)
        axes.locator_params(axis="x", nbins=6)
    panels[0].set_ylabel("test accuracy at the end (%)")
    percent(panels[0])
    panels[0].legend(title="what is turned", loc="lower right")
    return figure


def _points(axes: Axes, rows: pd.DataFrame, name: str, dial: str) -> None:
    """Means with 95 % intervals both ways; those of K are joined."""
    color, marker = LOOKS[dial]
    errors = [
        [(rows[f"{column}_mean"] - rows[f"{column}_low"]), (rows[f"{column}_high"] - rows[f"{column}_mean"])]
        for column in (name, "accuracy")
    ]
    line = "-" if dial == "K" else ""
    axes.errorbar(
        rows[f"{name}_mean"],
        rows["accuracy_mean"],
        xerr=errors[0],
        yerr=errors[1],
        fmt=marker + line,
        color=color,
        elinewidth=0.7,
        label=dial,
        zorder=2 if dial == "K" else 3,
    )


FIGURES = {"dials": dials}
