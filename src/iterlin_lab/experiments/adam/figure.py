"""The figure of E-ADAM."""

from collections.abc import Mapping

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band
from iterlin_lab.figures.style import colour, percent

TRUNCATED = "truncated-"
NAMES = {"sgd": "K = 1, gradient descent", "gradient": "K = 1, Adam", "solved": "large K, Adam"}
TICKS = {"sgd": "GD\nK = 1", "gradient": "Adam\nK = 1", "solved": "Adam\nlarge K"}
STYLES = {"sgd": "-", "gradient": ":", "solved": "-"}


def solved(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 8: test accuracy, and training accuracy of network and proxy; and the accuracy against the tolerance."""
    figure, panels = plt.subplots(1, 3, figsize=(11.4, 3.9), width_ratios=(5, 4, 4))
    _test(panels[0], tables["adam_curves"])
    _train(panels[1], tables["adam_phases"])
    _ends(panels[2], tables["adam"])
    return figure


def cell_colour(cell: str) -> str | tuple[float, float, float, float]:
    """K = 1 has its own of all figures, large K that of truncated Gauss–Newton, and the tolerances greys."""
    if cell.startswith(TRUNCATED):
        return mpl.colormaps["Greys"](np.interp(np.log10(_tolerance(cell)), (-4, -1), (0.95, 0.45)))
    return colour("tgn" if cell == "solved" else "1")


def _tolerance(cell: str) -> float:
    return float(cell.removeprefix(TRUNCATED))


def _test(axes: Axes, curves: pd.DataFrame) -> None:
    for cell, curve in curves.groupby("cell", sort=False):
        name = NAMES.get(str(cell), f"solved to β = {str(cell).removeprefix(TRUNCATED)}")
        at = curve["evaluations"].clip(lower=1)  # the first record has no place on a logarithmic axis
        style = STYLES.get(str(cell), "--")
        band(axes, at, curve, "network_test_accuracy", cell_colour(str(cell)), label=name, linestyle=style)
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_xlabel("evaluations of the gradient")
    axes.set_ylabel("test accuracy of the network (%)")
    percent(axes)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=8)


def _train(axes: Axes, curve: pd.DataFrame) -> None:
    for model, name, style in (("proxy", "linear proxy", ":"), ("network", "network", "-")):
        accuracy = f"{model}_train_accuracy"
        band(axes, curve["step"], curve, accuracy, cell_colour("solved"), label=name, linestyle=style)
    axes.set_xlabel("step t")
    axes.set_ylabel("training accuracy, large K with Adam (%)")
    percent(axes)
    axes.legend(loc="lower right")


def _ends(axes: Axes, table: pd.DataFrame) -> None:
    """The tolerances beside the other cells, in the order of the table."""
    names = ("cell", *(f"network_final_{part}" for part in ("mean", "low", "high")))
    for at, row in enumerate(table.to_dict("records")):
        cell, mean, low, high = (row[name] for name in names)
        axes.errorbar(at, mean, ([mean - low], [high - mean]), fmt="o", color=cell_colour(cell), capsize=2.5)
    labels = [TICKS.get(cell, f"β =\n{cell.removeprefix(TRUNCATED)}") for cell in table["cell"]]
    axes.set_xticks(range(len(table)), labels, fontsize=7)
    axes.set_xlim(-0.5, len(table) - 0.5)
    axes.set_xlabel("lazy problems solved better →", loc="right")
    axes.set_ylabel("test accuracy at the end (%)")
    percent(axes)


FIGURES = {"adam": solved}
