"""The figures of E-SWEEP."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import CROSS, band, grouped, mean_points
from iterlin_lab.figures.style import colour, line_style, percent
from iterlin_lab.report.names import label, tick

Tables = Mapping[str, pd.DataFrame]
FIRST = 0.7  # where step 0 is drawn, which has no place on a logarithmic axis
READINGS = {
    "network_validation_stopped": ("stopped on validation data", "o"),
    "network_test_stopped": ("stopped on test data (flatters)", "^"),
    "network_final": ("at the end", "s"),
}


def curves(tables: Tables) -> Figure:
    """T fig. 3: test accuracy of the network against steps, a line per K."""
    figure, axes = plt.subplots(figsize=(6.4, 3.8))
    for K, curve in grouped(tables["k_sweep_curves"]):
        _band(axes, curve, "network_test_accuracy", K, label=label(K))
    _crosses(axes, tables["k_sweep_curves"], tables["k_sweep_runs"].query("outcome == 'diverged'"))
    _step_axis(axes, tables["k_sweep_curves"])
    axes.set_ylabel("test accuracy of the network (%)")
    percent(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _crosses(axes: Axes, curves: pd.DataFrame, diverged: pd.DataFrame) -> None:
    """Where the mean of a K loses a run."""
    ends = diverged.merge(curves, left_on=["K", "steps"], right_on=["K", "step"])
    for K, rows in grouped(ends):
        at = np.maximum(rows["step"], FIRST)
        axes.plot(at, rows["network_test_accuracy_mean"], **CROSS, color=colour(K))
    if len(ends):
        axes.plot([], [], **CROSS, color="0.35", label="a run diverged")


def accuracy(tables: Tables) -> Figure:
    """Test accuracy against K, in three readings, with every run of the first; and its difference from K = 1."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.9), width_ratios=(3, 2))
    _readings(left, tables["k_sweep"], tables["k_sweep_runs"])
    _differences(right, tables["k_sweep"].query("K != 1 and K != inf"))
    return figure


def _readings(axes: Axes, table: pd.DataFrame, runs: pd.DataFrame) -> None:
    at = np.arange(len(table))
    for (name, (text, marker)), shift in zip(READINGS.items(), (-0.2, 0.0, 0.2), strict=True):
        _points(axes, at + shift, table, name, marker)
        axes.plot([], [], marker, color="0.35", label=text)
    first = next(iter(READINGS))
    for x, (K, group) in zip(at - 0.32, grouped(runs), strict=True):
        axes.plot(np.full(len(group), x), group[first], "_", color=colour(K), alpha=0.6)
    axes.plot([], [], "_", color="0.35", label="single runs of the first reading")
    _period_axis(axes, table)
    axes.set_ylabel("test accuracy of the network (%)")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, 0), min(high, 1))  # an interval from few runs may reach further
    percent(axes)
    axes.legend(loc="lower left")


def _differences(axes: Axes, table: pd.DataFrame) -> None:
    _points(axes, np.arange(len(table)), table, "difference", "o")
    axes.axhline(0, color=colour(1), linewidth=0.8)
    _period_axis(axes, table)
    axes.set_ylabel("difference from K = 1, paired\n(points; stopped on validation data)")
    percent(axes)


def _points(axes: Axes, at: np.ndarray, table: pd.DataFrame, name: str, marker: str) -> None:
    mean_points(axes, at, table, name, [colour(K) for K in table["K"]], marker)


def _period_axis(axes: Axes, table: pd.DataFrame) -> None:
    names = map(tick, table["K"])
    counts = zip(table["diverged"], table["runs"], strict=True)
    notes = (f"\n{bad} of {runs}\ndiverged" if bad else "" for bad, runs in counts)
    axes.set_xticks(range(len(table)), [name + note for name, note in zip(names, notes, strict=True)])
    axes.set_xlabel("steps between feature updates, K")


def proxy(tables: Tables) -> Figure:
    """The network against the linear proxy that is trained in its place (as T fig. 2), for the largest K."""
    curves = list(grouped(tables["k_sweep_curves"].query("K > 1")))[-3:]
    figure, panels = plt.subplots(
        1, len(curves), figsize=(min(7, 2.6 * len(curves) + 0.4), 2.4), sharey=True, squeeze=False
    )
    for axes, (K, curve) in zip(panels[0], curves, strict=True):
        _band(axes, curve, "network_test_accuracy", K, label="network", style="-")
        _band(axes, curve, "proxy_test_accuracy", K, label="linear proxy", style=":")
        axes.set_title(label(K))
        _step_axis(axes, curve)
        percent(axes)
    panels[0][0].set_ylabel("test accuracy (%)")
    panels[0][0].legend(loc="upper left")
    return figure


def movement(tables: Tables) -> Figure:
    """Distance from the initialisation, error of the linearisation, and number of feature updates."""
    quantities = {
        "distance_init": "‖θ − θ₀‖",
        "linearisation_error": "RMS of f − f_lin, training set",
        "feature_updates": "feature updates",
    }
    figure, panels = plt.subplots(1, 3, figsize=(7, 2.6))
    for axes, (name, text) in zip(panels, quantities.items(), strict=True):
        for K, curve in grouped(tables["k_sweep_curves"]):
            _band(axes, curve, name, K, label=label(K))
        _step_axis(axes, tables["k_sweep_curves"])
        axes.set_ylabel(text)
        axes.set_yscale("symlog", linthresh=1 if name == "feature_updates" else 1e-2)
        axes.set_ylim(bottom=0)
    panels[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


FIGURES = {
    "k_sweep_curves": curves,
    "k_sweep_accuracy": accuracy,
    "k_sweep_proxy": proxy,
    "k_sweep_movement": movement,
}


def _band(axes: Axes, curve: pd.DataFrame, name: str, K: float, label: str, style: str | None = None) -> None:
    steps = np.maximum(curve["step"], FIRST)
    band(axes, steps, curve, name, colour(K), linestyle=style or line_style(K), label=label)


def _step_axis(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_xscale("log")
    axes.set_xlim(FIRST, curve["step"].max())
    axes.set_xlabel("step t")
