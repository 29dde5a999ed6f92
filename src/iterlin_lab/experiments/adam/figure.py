"""The figure of E-ADAM."""

from collections.abc import Mapping

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band, grouped, halves
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import named, number_text

METHODS = {  # in legends and on axes
    "gradient": ("gradient flow of E-SWEEP", "flow"),
    "descent": ("gradient descent", "GD"),
    "Adam": ("Adam", "Adam"),
    "kept": ("Adam, momenta kept", "Adam\nkept"),
}
STYLES = {("gradient", True): "-.", ("Adam", True): ":", ("kept", False): (0, (4, 1, 1, 1))}  # by method, if K = 1


def solved(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 8: test accuracy, and training accuracy of network and proxy; and the accuracy against the tolerance."""
    figure = plt.figure(figsize=(7, 5.4))
    above, below = halves(figure)
    _test(above.subplots(), tables["adam_curves"])
    left, right = below.subplots(1, 2, width_ratios=(3, 7))
    _train(left, tables["adam_phases"])
    _ends(right, tables["adam"])
    return figure


def _colour(K: float, tolerance: float) -> str | tuple[float, float, float, float]:
    """K = 1 is coloured as in all figures, large K as truncated Gauss–Newton, and the tolerances are greys."""
    if np.isnan(K):
        return mpl.colormaps["Greys"](np.interp(np.log10(tolerance), (-5, -1), (0.95, 0.4)))
    return colour(1 if K == 1 else np.nan)


def _test(axes: Axes, curves: pd.DataFrame) -> None:
    for (method, K, tolerance), curve in grouped(curves, ["method", "K", "tolerance"]):
        name, style = f"solved to {named(tolerance=tolerance)}", "--"
        if method in METHODS:
            name = f"{'K = 1' if K == 1 else 'large K'}, {METHODS[method][0]}"
            style = STYLES.get((method, K == 1), "-")
        at = curve["evaluations"].clip(lower=1)  # the first record has no place on a logarithmic axis
        band(axes, at, curve, "network_test_accuracy", _colour(K, tolerance), label=name, linestyle=style)
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_xlabel("evaluations of the gradient")
    axes.set_ylabel("test accuracy of the network (%)")
    percent(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def _train(axes: Axes, curve: pd.DataFrame) -> None:
    for model, name, style in (("proxy", "linear proxy", ":"), ("network", "network", "-")):
        accuracy = f"{model}_train_accuracy"
        band(axes, curve["step"], curve, accuracy, _colour(np.inf, np.nan), label=name, linestyle=style)
    axes.set_xlabel("step t")
    axes.set_ylabel("training accuracy,\nlarge K with Adam (%)")
    percent(axes)
    axes.legend(loc="lower right")


def _ends(axes: Axes, table: pd.DataFrame) -> None:
    """The tolerances beside the others, in the order of the table, without an η that was not chosen."""
    labels, rows = [], table[table["chosen"]].to_dict("records")
    for at, row in enumerate(rows):
        method, K, tolerance = row["method"], row["K"], row["tolerance"]
        mean, low, high = (row[f"network_final_{part}"] for part in ("mean", "low", "high"))
        axes.errorbar(at, mean, ([mean - low], [high - mean]), fmt="o", color=_colour(K, tolerance), capsize=2.5)
        period = "K = 1" if K == 1 else "K ≫ 1"
        labels.append(f"{METHODS[method][1]}\n{period}" if method in METHODS else number_text(tolerance))
    axes.set_xticks(range(len(rows)), labels)
    axes.set_xlim(-0.5, len(rows) - 0.5)
    axes.set_xlabel("tolerance β, lazy problems solved better →", loc="right")
    axes.set_ylabel("test accuracy at the end (%)")
    percent(axes)


FIGURES = {"adam": solved}
