"""The figure of E-DAMPCE."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import mean_points
from iterlin_lab.figures.style import colour, damping_colour, percent
from iterlin_lab.report.names import tick

READINGS = {"network_final": ("at the end", "s"), "network_validation_stopped": ("stopped on validation data", "o")}
SHIFT = 0.12  # of a reading from its tick


def damping(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 9 (bottom) beside the finite K of E-SWEEP, both from much feature learning to little."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6), sharey=True)
    sweep, damped = tables["k_sweep"].query("K < inf"), tables["damp_ce"].sort_values("damping", ascending=False)
    _panel(left, sweep, [*map(colour, sweep["K"])], list(map(tick, sweep["K"])))
    left.set_xlabel("← more feature learning   steps between feature updates, K")
    left.set_ylabel("test accuracy of the network (%)")
    notes = [f"\n{bad} of {runs}\nunfinished" if bad else "" for bad, runs in _unfinished(damped)]
    names = [f"{damping:g}{note}" for damping, note in zip(damped["damping"], notes, strict=True)]
    _panel(right, damped, [*map(damping_colour, damped["damping"])], names)
    right.set_xlabel("← more feature learning   damping λ of solved lazy problems")
    percent(left)
    right.legend(loc="lower left")
    return figure


def _unfinished(table: pd.DataFrame) -> list[tuple[int, int]]:
    return list(zip(table["runs"] - table["fitted"], table["runs"], strict=True))


def _panel(axes: Axes, table: pd.DataFrame, colours: list[Any], names: list[str]) -> None:
    """Both readings of every row, with their intervals, in the order of the table; a line through the first."""
    for (name, (text, marker)), shift in zip(READINGS.items(), (-SHIFT, SHIFT), strict=True):
        axes.plot([], [], marker, color="0.35", label=text)
        mean_points(axes, np.arange(len(table)) + shift, table, name, colours, marker)
    first = table[f"{next(iter(READINGS))}_mean"]
    axes.plot(np.arange(len(table)) - SHIFT, first, color="0.75", linewidth=0.8, zorder=1)
    axes.set_xticks(range(len(table)), names)


FIGURES = {"damp_ce": damping}
