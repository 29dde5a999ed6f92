"""The figure of E-DAMPCE."""

from collections.abc import Callable, Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.style import colour, damping_colour, label, percent

READINGS = {"network_final": ("at the end", "s"), "network_validation_stopped": ("stopped on validation data", "o")}
SHIFT = 0.12  # of a reading from the tick of its cell


def damping(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 9 (bottom) beside the finite K of E-SWEEP, both from much feature learning to little."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6), sharey=True)
    sweep, damped = tables["k_sweep"].query("cell not in ('inf', 'tgn')"), tables["damp_ce"]
    _panel(left, sweep, colour, [label(cell).removeprefix("K = ") for cell in sweep["cell"]])
    left.set_xlabel("← more feature learning   steps between feature updates, K")
    left.set_ylabel("test accuracy of the network (%)")
    damped = damped.sort_values("cell", key=lambda cells: -cells.astype(float))
    notes = [f"\n{bad} of {runs}\nunfinished" if bad else "" for bad, runs in _unfinished(damped)]
    _panel(
        right,
        damped,
        lambda cell: damping_colour(float(cell)),
        [cell + note for cell, note in zip(damped["cell"], notes, strict=True)],
    )
    right.set_xlabel("← more feature learning   damping λ of solved lazy problems")
    percent(left)
    right.legend(loc="lower left")
    return figure


def _unfinished(table: pd.DataFrame) -> list[tuple[int, int]]:
    return list(zip(table["runs"] - table["fitted"], table["runs"], strict=True))


def _panel(axes: Axes, table: pd.DataFrame, colour_of: Callable, names: list[str]) -> None:
    """Both readings of every cell, with their intervals, in the order of the table; a line through the first."""
    for (name, (text, marker)), shift in zip(READINGS.items(), (-SHIFT, SHIFT), strict=True):
        axes.plot([], [], marker, color="0.35", label=text)
        columns = (table["cell"], *(table[f"{name}_{part}"] for part in ("mean", "low", "high")))
        for at, (cell, mean, low, high) in enumerate(zip(*columns, strict=True)):
            errors = ([mean - low], [high - mean])
            axes.errorbar(at + shift, mean, errors, fmt=marker, color=colour_of(cell), capsize=2.5, zorder=3)
    first = table[f"{next(iter(READINGS))}_mean"]
    axes.plot(np.arange(len(table)) - SHIFT, first, color="0.75", linewidth=0.8, zorder=1)
    axes.set_xticks(range(len(table)), names)


FIGURES = {"damp_ce": damping}
