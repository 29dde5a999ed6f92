"""The figures of E-XOR."""

import math
from collections.abc import Mapping
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from iterlin_lab.figures.panels import mean_points
from iterlin_lab.figures.style import colour, damping_colour, percent
from iterlin_lab.report.names import SYMBOLS, label, named, number_text, period_text

Tables = Mapping[str, pd.DataFrame]
COLUMNS = 5
SIDE = 1.22  # inches of a panel
LOWEST = math.cos(math.pi / 4)  # of an alignment
BINS = np.linspace(LOWEST, 1, 16).tolist()
RANDOM = 4 / math.pi * math.sin(math.pi / 4)
DIALS = ("K", "damping")
INITIAL = np.nan  # the value of a dial before training
CLOSE = 0.05, 0.004  # of two cells, in the logarithm of the distance and in the alignment


def features(tables: Tables) -> Figure:
    """T fig. 7: first-layer rows coloured by the output weight, and below their alignments, along both dials."""
    table = tables["xor_features"]
    chosen = {dial: [INITIAL, *_spread(_shown(table, dial))] for dial in DIALS}
    width = max(map(len, chosen.values()))
    figure, panels = plt.subplots(
        4, width, figsize=(SIDE * width + 0.9, 3.7 * SIDE), height_ratios=(1, 0.6, 1, 0.6), squeeze=False
    )
    drawn = [_neurons(table, dial, value) for dial in DIALS for value in chosen[dial] if not np.isinf(value)]
    limit = float(pd.concat(drawn)["w2"].abs().quantile(0.98))
    norm = Normalize(-limit, limit)
    for row, dial in zip((0, 2), DIALS, strict=True):
        for column in range(width):
            scatter, histogram = panels[row, column], panels[row + 1, column]
            if column >= len(chosen[dial]):
                scatter.set_axis_off()
                histogram.set_axis_off()
                continue
            value = chosen[dial][column]
            neurons = _neurons(table, dial, value)
            _scatter(scatter, neurons, norm)
            scatter.set_title(_name(dial, value))
            _histogram(histogram, neurons["alignment"], _colour(dial, value))
        panels[row, 0].set_ylabel("second entry of w₁ᵢ")
        panels[row + 1, 0].set_ylabel("neurons")
    for axes in panels[3]:
        axes.set_xlabel("alignment a(w₁ᵢ)")
        axes.tick_params(labelbottom=True)
    bar = figure.colorbar(plt.cm.ScalarMappable(norm, "PuOr"), ax=panels, shrink=0.5, aspect=35, extend="both")
    bar.set_label("output weight w₂ᵢ")
    return figure


def _shown(table: pd.DataFrame, dial: str) -> list[float]:
    """The values of a dial, from much feature learning to little: K rises, or λ falls."""
    return sorted(table[dial].dropna().unique(), reverse=dial == "damping")


def _spread(values: list[float]) -> list[float]:
    """No more of them than there are columns for, the first and the last among them."""
    at = np.linspace(0, len(values) - 1, min(COLUMNS - 1, len(values)))
    return [values[i] for i in np.round(at).astype(int)]


def _neurons(table: pd.DataFrame, dial: str, value: float) -> pd.DataFrame:
    return table[table[list(DIALS)].isna().all(axis=1) if np.isnan(value) else table[dial] == value]


def _name(dial: str, value: float) -> str:
    if np.isnan(value):
        return "initialisation"
    return label(value) if dial == "K" else named(damping=value)


def _colour(dial: str, value: float):
    if np.isnan(value):
        return "0.6"
    return colour(value) if dial == "K" else damping_colour(value)


def _scatter(axes: Axes, neurons: pd.DataFrame, norm: Normalize) -> None:
    """About the origin, with the directions of the clusters."""
    limit = 1.08 * float(neurons[["w1_x", "w1_y"]].abs().to_numpy().max())
    for sign in (1, -1):
        axes.plot([-limit, limit], [-sign * limit, sign * limit], color="0.8", linewidth=0.8, zorder=1)
    style = {"s": 11, "edgecolors": "0.35", "linewidths": 0.3, "zorder": 2}
    axes.scatter(neurons["w1_x"], neurons["w1_y"], c=neurons["w2"], cmap="PuOr", norm=norm, **style)
    tick = float(f"{0.75 * limit:.0e}")
    ticks = [-tick, 0, tick]
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xticks=ticks, yticks=ticks)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")


def _histogram(axes: Axes, alignment: pd.Series, face) -> None:
    """Against what random directions would give: angles to the nearest cluster uniform between 0° and 45°."""
    known = alignment.dropna().clip(LOWEST, 1)
    axes.hist(known, BINS, color=face)
    expected = len(known) * 4 / math.pi * -np.diff(np.arccos(BINS))
    axes.stairs(expected, BINS, color="black", linewidth=0.9)
    axes.set(xlim=(LOWEST, 1), ylim=(0, len(alignment)), xticks=[0.8, 1])
    axes.label_outer(remove_inner_ticks=True)


def alignment(tables: Tables) -> Figure:
    """Mean alignment and test accuracy against K and against λ."""
    table = tables["xor"]
    figure, panels = plt.subplots(2, 2, figsize=(7, 4.6), sharey="row", sharex="col", height_ratios=(1.4, 1))
    for column, dial in enumerate(DIALS):
        rows = table.dropna(subset=dial)
        upper, lower = panels[:, column]
        at, lazy = _positions(rows[dial]), np.isinf(rows[dial].to_numpy())
        colours = pd.Series([_colour(dial, value) for value in rows[dial]], rows.index)
        mean_points(upper, at, rows, "alignment", colours)
        _levels(upper, rows)
        mean_points(lower, at[~lazy], rows[~lazy], "network_test_accuracy", colours[~lazy])
        mean_points(lower, at[lazy], rows[lazy], "proxy_test_accuracy", colours[lazy], "^")
        percent(lower)
    _dial_axes(panels, table)
    panels[0, 0].set_ylabel("mean alignment over neurons")
    panels[1, 0].set_ylabel("test accuracy by the sign (%)")
    panels[1, 0].plot([], [], "o", color="0.35", label="network")
    panels[1, 0].plot([], [], "^", color="0.35", label="linear proxy, for K = ∞")
    panels[1, 0].legend(loc="lower left")
    panels[0, 1].legend(loc="upper right")
    low, _ = panels[1, 0].get_ylim()
    panels[1, 0].set_ylim(min(low, 0.98), 1.001)
    return figure


def _positions(values: pd.Series) -> np.ndarray:
    """Where points stand on a logarithmic axis; K = ∞ stands a decade and a half after the last K."""
    return values.replace(np.inf, 30 * values[np.isfinite(values)].max()).to_numpy()


def _levels(axes: Axes, rows: pd.DataFrame) -> None:
    axes.axhline(RANDOM, color="black", linewidth=0.8, linestyle=":", label="random directions, (4/π)·sin 45°")
    initial = rows["alignment_initial"].mean()
    axes.axhline(initial, color="0.6", linewidth=0.8, linestyle="--", label="at initialisation")


def _dial_axes(panels: np.ndarray, table: pd.DataFrame) -> None:
    """K rises and λ falls to the right: feature learning falls in both. Above stands λ in T's convention."""
    for lower, upper, dial in zip(panels[1], panels[0], DIALS, strict=True):
        rows = table.dropna(subset=dial)
        lower.set_xscale("log")
        if dial == "K":
            names = [period_text(K) for K in rows["K"]]
            # A K between powers of ten is near one of them: its name stands a line lower.
            lower.set_xticks(_positions(rows["K"]), ["\n" * ("·" in name) + name for name in names])
            lower.minorticks_off()
            lower.set_xlabel("steps between feature updates, K")
        else:
            lower.invert_xaxis()
            lower.set_xlabel("damping λ of the mean loss")
            factor = float((rows["lambda_of_T"] / rows["damping"]).iloc[0])
            functions = partial(np.multiply, factor), partial(np.multiply, 1 / factor)
            above = upper.secondary_xaxis("top", functions=functions)
            above.set_xlabel("λ of T (eq. 10), 2nλ")


def dials(tables: Tables) -> Figure:
    """Whether K and λ are the same dial: mean alignment against the distance from the initialisation, for both."""
    table = tables["xor"]
    figure, axes = plt.subplots(figsize=(7, 4.0))
    for dial, marker, line in zip(DIALS, "os", ("-", "--"), strict=True):
        rows = table[np.isfinite(table[dial])].sort_values(dial, ascending=dial == "K")
        axes.plot(rows["distance_mean"], rows["alignment_mean"], line, color="0.75", linewidth=1, zorder=1)
        _crosses(axes, rows, dial, marker)
        axes.plot([], [], marker + line, color="0.6", label="period K" if dial == "K" else "damping λ")
    _levels(axes, table)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("distance from the initialisation, ‖θ − θ₀‖")
    axes.set_ylabel("mean alignment over neurons")
    axes.margins(x=0.15)
    axes.set_ylim(min(axes.get_ylim()[0], RANDOM) - 0.004)
    axes.legend(loc="upper right")
    return figure


def _crosses(axes: Axes, rows: pd.DataFrame, dial: str, marker: str) -> None:
    """Points with both intervals and their names; of neighbours too close for two names, the outermost carries both."""
    names: dict[tuple[float, float], list[pd.Series]] = {}
    for _, row in rows.iterrows():
        bars = {}
        for name, axis in (("distance", "xerr"), ("alignment", "yerr")):
            mean, low, high = (row[f"{name}_{part}"] for part in ("mean", "low", "high"))
            bars[axis] = ([mean - low], [high - mean])
        x, y = row["distance_mean"], row["alignment_mean"]
        face = _colour(dial, row[dial])
        axes.errorbar(x, y, **bars, fmt=marker, color=face, capsize=2, zorder=3)
        near = [at for at in names if abs(math.log(at[0] / x)) < CLOSE[0] and abs(at[1] - y) < CLOSE[1]]
        names.setdefault(near[0] if near else (x, y), []).append(row)
    choose, offset, side = (max, (6, 4), "left") if dial == "K" else (min, (-6, -9), "right")
    for near in names.values():
        outermost = choose(near, key=lambda row: row["distance_mean"])
        at = outermost["distance_mean"], outermost["alignment_mean"]
        values = [period_text(row["K"]) if dial == "K" else number_text(row["damping"]) for row in near]
        text = f"{SYMBOLS[dial]} = {', '.join(values)}"
        face = _colour(dial, near[0][dial])
        look = {"color": face, "ha": side, "zorder": 4}  # above the bars of others
        drawn = axes.annotate(text, at, offset, textcoords="offset points", **look)
        drawn.set_path_effects([withStroke(linewidth=3, foreground="white")])


FIGURES = {"xor_features": features, "xor_alignment": alignment, "xor_dials": dials}
