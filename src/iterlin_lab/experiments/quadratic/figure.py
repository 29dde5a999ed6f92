"""The figure of E-QUAD."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.experiments.quadratic.settings import NETWORK
from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import percent

LOOKS = {NETWORK: ("network", "0.45"), 1: ("linear", "black"), 2: ("quadratic", "#0072b2")}
TITLES = {"train_distance": "training data", "test_distance": "test data"}


def quadratic(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """How far each expansion is from the network along K; and what accuracy each model reaches."""
    figure, panels = plt.subplots(1, 3, figsize=(7, 2.9), width_ratios=(3, 3, 2))
    panels[1].sharey(panels[0])
    for axes, (name, title) in zip(panels, TITLES.items(), strict=False):
        _distances(axes, tables["quadratic_distances"], name)
        axes.set_title(title)
    panels[0].set_ylabel("distance of outputs from the\nnetwork's, over their change")
    panels[0].legend(loc="upper left")
    _accuracies(panels[2], tables["quadratic"])
    return figure


def _distances(axes: Axes, table: pd.DataFrame, name: str) -> None:
    for order, rows in grouped(table, "order"):
        text, color = LOOKS[order]
        band(axes, rows["step"], rows, name, color, label=text)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("steps since the expansion, K")


def _accuracies(axes: Axes, table: pd.DataFrame) -> None:
    for place, row in enumerate(table.to_dict("records")):
        color = LOOKS[row["order"]][1]
        mean, low, high = (row[f"accuracy_{part}"] for part in ("mean", "low", "high"))
        axes.errorbar(place, mean, ([mean - low], [high - mean]), fmt="o", color=color, capsize=2.5)
    axes.set_xticks(range(len(table)), [LOOKS[order][0] for order in table["order"]], rotation=30, ha="right")
    axes.set_xlim(-0.5, len(table) - 0.5)
    axes.set_ylabel("test accuracy (%)")
    percent(axes)


FIGURES = {"quadratic": quadratic}
