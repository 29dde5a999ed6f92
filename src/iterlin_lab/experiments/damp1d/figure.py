"""The figures of E-DAMP1D."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.data.quintic import quintic
from iterlin_lab.experiments.damp1d.depths import deepest
from iterlin_lab.figures.style import damping_colour
from iterlin_lab.report.names import named, number_text

Tables = Mapping[str, pd.DataFrame]
WAY = ["damping", "step_size"]  # to damp
TARGET = {"color": "black", "linewidth": 1.0, "linestyle": "--", "zorder": 4}
POINTS = {"color": "black", "marker": "o", "markersize": 3, "markerfacecolor": "white", "linestyle": "", "zorder": 5}


def errors(tables: Tables) -> Figure:
    """T fig. 9, top: test RMSE against λ, every run with the mean; the share of runs that failed; and the roughness."""
    cells, runs = deepest(tables["damp1d"]), deepest(tables["damp1d_runs"])
    figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(6.4, 7.2), sharex=True, height_ratios=(4, 1.3, 2.6))
    _every_run(top, cells, runs, "test_rmse")
    top.set_ylabel("test RMSE")
    at = np.arange(len(cells))
    bars = 100 * cells["failed"] / cells["runs"], 100 * cells["diverged"] / cells["runs"]
    middle.bar(at, bars[0], color="0.75", width=0.6, label="train RMSE above the cut")
    middle.bar(at, bars[1], color="0.35", width=0.6, label="of these, diverged")
    middle.set_ylabel("failed (%)")
    middle.legend(loc="upper center")
    _every_run(bottom, cells, runs, "roughness")
    bottom.axhline(_roughness_of_target(tables), **TARGET, label="the quintic itself")
    bottom.set_ylabel("roughness ∫|f''|")
    bottom.legend(loc="upper right", bbox_to_anchor=(0.78, 1))
    bottom.set_xticks(at, [_label(*way) for way in cells[WAY].to_numpy()])
    bottom.set_xlabel("damping λ of the mean loss (T's is 2nλ), exact steps; and step size α at λ = 0")
    for axes in (top, middle, bottom):
        axes.axvline((cells["step_size"] == 1).sum() - 0.5, color="0.6", linewidth=0.8)
    return figure


def _every_run(axes: Axes, cells: pd.DataFrame, runs: pd.DataFrame, name: str) -> None:
    """Runs that have not failed, as points, with their mean, its interval and their median."""
    kept = runs[~runs["failed"]]
    for x, (damping, step_size) in enumerate(cells[WAY].to_numpy()):
        values = kept.loc[(kept["damping"] == damping) & (kept["step_size"] == step_size), name]
        spread = 0.3 * np.linspace(-1, 1, max(2, len(values)))[: len(values)]
        axes.plot(x + spread, values, ".", color=damping_colour(damping), markersize=2, alpha=0.5, rasterized=True)
    at = np.arange(len(cells))
    mean, low, high = (cells[f"{name}_{part}"] for part in ("mean", "low", "high"))
    floor = cells[f"median_{name}"] / 10  # an interval may reach below zero, which a logarithm cannot show
    axes.errorbar(
        at, mean, (mean - np.maximum(low, floor), high - mean), fmt="D", color="#d55e00", capsize=3, label="mean, 95 %"
    )
    axes.plot(at, cells[f"median_{name}"], "_", color="black", markersize=14, label="median")
    axes.set_yscale("log")
    if name == "test_rmse":
        axes.legend(loc="upper right", bbox_to_anchor=(0.78, 1))  # where no run comes


def functions(tables: Tables) -> Figure:
    """T fig. 9, centre: functions learnt with some λ, and the points that they are fitted to."""
    drawn, points = tables["damp1d_drawn"], tables["damp1d_points"]
    dampings = sorted(drawn["damping"].unique())
    figure, panels = plt.subplots(
        1, len(dampings), figsize=(min(7, 2.4 * len(dampings) + 0.4), 2.3), sharey=True, squeeze=False
    )
    for axes, damping in zip(panels[0], dampings, strict=True):
        of_damping = drawn[drawn["damping"] == damping]
        for _, function in of_damping.groupby("run"):
            axes.plot(function["x"], function["f"], color=damping_colour(damping), linewidth=0.8, alpha=0.8)
        x = np.sort(of_damping["x"].unique())
        axes.plot(x, quintic(x), **TARGET)
        axes.plot(points["x"], points["y"], **POINTS)
        axes.set_title(named(damping=damping))
        axes.set_xlabel("x")
        axes.set_ylim(-14, 12)
    panels[0][0].set_ylabel("f(x)")
    return figure


def _label(damping: float, step_size: float) -> str:
    return number_text(damping) if step_size == 1 else f"α={step_size:g}"


def _roughness_of_target(tables: Tables) -> float:
    x = np.sort(tables["damp1d_drawn"]["x"].unique())
    return float(np.abs(np.diff(quintic(x), n=2)).sum() / (x[1] - x[0]))


FIGURES = {"damp_quintic": errors, "damp_quintic_functions": functions}
