"""The figure of E-ADAPT."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, PercentFormatter

from iterlin_lab.figures.style import colour
from iterlin_lab.report.names import label

PANELS = {
    "network_validation_stopped": "test accuracy of\nthe network (%)",
    "feature_updates": "feature updates",
    "evaluations": "evaluations of\nthe gradient",
}
SCHEDULE = "#cc79a7"  # apart from the colours of K


def adapt(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """A row a K and a schedule: its accuracy, and what it costs."""
    table = tables["adapt"]
    figure, panels = plt.subplots(1, len(PANELS), figsize=(7, 0.3 * len(table) + 0.9), sharey=True)
    for axes, (name, text) in zip(panels, PANELS.items(), strict=True):
        for place, row in enumerate(table.to_dict("records")):
            _point(axes, place, row, name)
        axes.set_xlabel(text)
    panels[0].xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=""))
    for axes in panels[1:]:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())  # within two decades these would overlap
    names = [label(row["K"]) if row["method"] == "gradient" else row["method"] for row in table.to_dict("records")]
    panels[0].set_yticks(range(len(table)), names)
    panels[0].invert_yaxis()
    return figure


def _point(axes: Axes, place: int, row: dict[Any, Any], name: str) -> None:
    """A mean with its 95 % interval."""
    mean, low, high = (row[f"{name}_{part}"] for part in ("mean", "low", "high"))
    marker, shade = ("o", colour(row["K"])) if np.isfinite(row["K"]) else ("D", SCHEDULE)
    axes.errorbar(mean, place, xerr=[[max(mean - low, 0)], [max(high - mean, 0)]], fmt=marker, color=shade, capsize=2.5)


FIGURES = {"adapt": adapt}
