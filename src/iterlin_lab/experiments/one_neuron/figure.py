"""The figures of L-RELU."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from iterlin_lab.figures.panels import dimension_colours, legend_beneath

DESCENT = "one neuron"
Tables = Mapping[str, pd.DataFrame]
NAMES = {
    DESCENT: "one neuron, gradient descent",
    "lazy": "wide network, lazily trained",
    "NT": "kernel regression, $K^{NT}$",
    "RF": "kernel regression, $K^{RF}$",
}
COLOURS = dict(zip(NAMES, ("#d55e00", "#009e73", "#0072b2", "#56b4e9"), strict=True))
MARKERS = dict(zip(NAMES, "os^v", strict=True))
AT_RIGHT: Any = {"xycoords": ("axes fraction", "data"), "xytext": (-2, 2), "textcoords": "offset points", "ha": "right"}
LOWEST = 5e-3  # below the plateaus; a descent that has found the neuron leaves the panel


def errors(tables: Tables) -> Figure:
    """Test error against n/d for every learner and d, with ‖P_{>l} y‖² of the labels."""
    table = tables["one_neuron"]
    figure, panels = plt.subplots(1, len(NAMES), figsize=(7, 2.9), sharey=True, sharex=True)
    colours = dimension_colours(table["dimension"])
    for axes, (learner, name) in zip(panels, NAMES.items(), strict=True):
        for degree, height in tables["one_neuron_plateaus"].to_numpy():
            axes.axhline(height, color="0.25", linewidth=0.8, linestyle="--", zorder=1)
            if learner == DESCENT:
                axes.annotate(f"$P_{{>{degree:g}}}$", (1, height), **AT_RIGHT)
        of_learner = table[table["learner"] == learner]
        for dimension, color in colours.items():
            rows = of_learner[of_learner["dimension"] == dimension]
            _line(axes, rows["ratio"], rows, "test_error", color=color, label=f"d = {dimension}")
        axes.set(xscale="log", yscale="log", ylim=(LOWEST, 1.2), xlabel="n / d")
        axes.set_title(name.replace(", ", ",\n"))
        _plain_ticks(axes, (1, 2, 4, 8, 16, 32))
    panels[0].set_ylabel("test error / E y²")
    legend_beneath(panels[0])
    return figure


def rates(tables: Tables) -> Figure:
    """The examples that an error of ε takes against d; and the test error along descent."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.1))
    _sizes(left, tables["one_neuron_sizes"], tables["one_neuron_exponents"].set_index("learner"))
    _descents(right, tables["one_neuron_descent"])
    return figure


def _line(axes: Axes, x: pd.Series, rows: pd.DataFrame, name: str, marker: str = "o", **look: Any) -> None:
    mean, low, high = (rows[f"{name}_{part}"] for part in ("mean", "low", "high"))
    low = np.minimum(mean, np.maximum(low, LOWEST / 2))  # it may be below zero, which a logarithm cannot show
    axes.errorbar(x, mean, (mean - low, high - mean), marker=marker, capsize=2, **look)


def _plain_ticks(axes: Axes, values: tuple[int, ...]) -> None:
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_xlim()
    shown = [value for value in values if low <= value <= high]
    axes.set_xticks(shown, [str(value) for value in shown])


def _sizes(axes: Axes, sizes: pd.DataFrame, exponents: pd.DataFrame) -> None:
    means, highs = (exponents[f"exponent_{part}"] for part in ("mean", "high"))
    for learner, name in NAMES.items():
        rows, mean = sizes[sizes["learner"] == learner], means[learner]
        law = "–" if np.isnan(mean) else f"{mean:.2f} ± {highs[learner] - mean:.2f}"
        label = f"{name}: {law}"
        _line(axes, rows["dimension"], rows, "size", MARKERS[learner], color=COLOURS[learner], label=label)
    dimensions = np.array(sorted(set(sizes["dimension"])), float)
    for power, name in ((1, "d"), (2, "$d^2$")):
        law = 0.7 * sizes["size_mean"].min() * (dimensions / dimensions[0]) ** power
        axes.plot(dimensions, law, color="0.5", linestyle=":", linewidth=1)
        axes.annotate(name, (dimensions[-1], law[-1]), (3, -3), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="input dimension d", ylabel="examples that the error ε takes, $n_ε$")
    _plain_ticks(axes, tuple(int(d) for d in dimensions))
    axes.set_ylim(top=10 * axes.get_ylim()[1])  # room for the legend
    axes.legend(title="exponent of d", loc="upper left", alignment="left")


def _descents(axes: Axes, descents: pd.DataFrame) -> None:
    for dimension, color in dimension_colours(descents["dimension"]).items():
        for number, (_, curve) in enumerate(descents[descents["dimension"] == dimension].groupby("run")):
            name = f"d = {dimension}" if number == 0 else None
            axes.plot(curve["step"], curve["test_error"], color=color, linewidth=0.9, label=name)
    axes.set(yscale="log", xlabel="steps of gradient descent", ylabel="test error / E y²")
    axes.set_title(f"one neuron, n = {descents['ratio'].max():g} d")
    axes.legend()


FIGURES = {"one_neuron": errors, "one_neuron_rates": rates}
