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
from iterlin_lab.report.names import number_text, tick

FINAL = "network_final"
READINGS = {FINAL: ("at the end", "s"), "network_validation_stopped": ("stopped on\nvalidation data", "o")}
SHIFT = 0.12  # of a reading from its tick


def damping(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 9 (bottom) beside the finite K of E-SWEEP, both from little feature learning to much; and when λ acts."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7, 2.9), sharey=True, width_ratios=(6, 4, 6))
    table = tables["damp_ce"]
    always = table[table["method"] == "always"].sort_values("damping")
    _panel(left, always, [*map(damping_colour, always["damping"])], list(map(number_text, always["damping"])))
    left.set_xlabel("damping λ of solved lazy problems\nmore feature learning →")
    left.set_ylabel("test accuracy of the network (%)")
    percent(left)
    left.legend(loc="lower right")
    _when(middle, table, tables["damp_ce_dials"])
    sweep = tables["k_sweep"].query("K < inf").sort_values("K", ascending=False)
    _panel(right, sweep, [*map(colour, sweep["K"])], list(map(tick, sweep["K"])))
    right.tick_params(axis="x", labelsize=8)
    right.set_xlabel("steps between feature updates, K\nmore feature learning →")
    return figure


def _when(axes: Axes, table: pd.DataFrame, runs: pd.DataFrame) -> None:
    """Never, late, early and always, with the readings at the end of every run."""
    (switched,) = table[table["method"] == "early"].to_dict("records")
    value = switched["damping"]
    cells = {"never": ("always", 0.0), "late": ("late", value), "early": ("early", value), "always": ("always", value)}
    ends = [_of(runs, *cell).set_index("run")[FINAL] for cell in cells.values()]
    axes.plot(np.arange(len(cells)), pd.concat(ends, axis=1).to_numpy().T, color="0.8", linewidth=0.6, zorder=1)
    shown = pd.concat([_of(table, *cell) for cell in cells.values()])
    mean_points(
        axes, np.arange(len(cells)), shown, FINAL, [damping_colour(damping) for _, damping in cells.values()], "s"
    )
    axes.set_xticks(range(len(cells)), list(cells))
    axes.set_xlabel(f"phases in which λ = {number_text(value)}\n(early: up to phase {switched['after']:g})")


def _of(table: pd.DataFrame, method: str, damping: float) -> pd.DataFrame:
    return table[(table["method"] == method) & (table["damping"] == damping)]


def _panel(axes: Axes, table: pd.DataFrame, colours: list[Any], names: list[str]) -> None:
    """Both readings of every row, with their intervals, in the order of the table; a line through the first."""
    for (name, (text, marker)), shift in zip(READINGS.items(), (-SHIFT, SHIFT), strict=True):
        axes.plot([], [], marker, color="0.35", label=text)
        mean_points(axes, np.arange(len(table)) + shift, table, name, colours, marker)
    axes.plot(np.arange(len(table)) - SHIFT, table[f"{FINAL}_mean"], color="0.75", linewidth=0.8, zorder=1)
    counts = zip(table["runs"] - table["fitted"], table["runs"], strict=True)
    notes = (f"\n{bad} of {runs}\nunfinished" if bad else "" for bad, runs in counts)
    axes.set_xticks(range(len(table)), [name + note for name, note in zip(names, notes, strict=True)])


FIGURES = {"damp_ce": damping}
