"""The figures of E-FILTER."""

from collections.abc import Iterator, Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from iterlin_lab.experiments.filters.claims import AROUND, FRACTION
from iterlin_lab.experiments.filters.kernel_figure import FIGURES as KERNELS
from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour
from iterlin_lab.report.names import label

Tables = Mapping[str, pd.DataFrame]
MAPS = {1: "PuOr", 3: "gray"}  # by the channels of an image; of three, each is on the grey scale
CLAIMED = "#f0e442"
SIDE = 0.62  # inches of a filter


def grid(tables: Tables) -> Figure:
    """T fig. 6: the change of the first filters, a row each, in equally spaced columns; K = 1 above, the large K below.

    One range serves all: that of the largest change.
    """
    table = tables["filters_drawn"]
    limit = float(table["change"].abs().max())
    norm = Normalize(-limit, limit)
    channels = table["channel"].nunique()
    blocks = list(grouped(table))
    count, steps = table["filter"].nunique(), sorted(table["step"].unique())
    size = (min(7, SIDE * len(steps) + 2.0), SIDE * count * len(blocks) + 1.0)
    figure, panels = plt.subplots(count * len(blocks), len(steps), figsize=size, squeeze=False)
    for i, (K, block) in enumerate(blocks):
        rows = panels[i * count : (i + 1) * count]
        for number, line in enumerate(rows, 1):
            line[0].set_ylabel(f"filter {number}", rotation=0, ha="right", va="center")
        rows[count // 2, 0].annotate(
            label(K), (-1.15, 0.5), xycoords="axes fraction", ha="right", va="center", color=colour(K)
        )
        for axes, image in zip(rows.flat, _images(block), strict=True):
            _draw(axes, image, norm)
    for axes, step in zip(panels[-1], steps, strict=True):
        axes.set_xlabel(f"{step / steps[-1]:.0%}")
    figure.supxlabel(f"part of the {steps[-1]:.0f} steps of training")
    bar = figure.colorbar(plt.cm.ScalarMappable(norm, MAPS[channels]), ax=panels, shrink=0.7, aspect=30)
    bar.set_label("change of a weight since initialisation")
    return figure


def _images(block: pd.DataFrame) -> Iterator[np.ndarray]:
    """(rows, columns, channels) of every filter and step, in this order."""
    shape = [block[name].nunique() for name in ("row", "column", "channel")]
    for _, image in block.sort_values(["filter", "step", "row", "column", "channel"]).groupby(["filter", "step"]):
        yield image["change"].to_numpy().reshape(shape)


def _draw(axes: Axes, image: np.ndarray, norm: Normalize) -> None:
    """Draw a filter as squares, which stay sharp at any size; nothing where the run had diverged."""
    if image.shape[-1] == 1:
        axes.pcolormesh(image[..., 0], norm=norm, cmap=MAPS[1])
    elif np.isfinite(image).all():
        axes.pcolormesh(norm(image))
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
    axes.spines[:].set(color="0.6", linewidth=0.5)


def similarity(tables: Tables) -> Figure:
    """How similar K = 1's change is along training to the large K's final one, and how far from it."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.6), sharex=True)
    curves, runs = tables["filters_similarity"], tables["filters_runs"].dropna(subset="fraction")
    large = curves["K"].iloc[0]
    for axes, name in ((left, "similarity"), (right, "distance")):
        band(axes, curves["fraction_mean"], curves, name, colour(1), label="K = 1, mean and 95 % interval")
        text = f"{FRACTION:.0%} ± {AROUND:.0%} of training"
        axes.axvspan(FRACTION - AROUND, FRACTION + AROUND, color=CLAIMED, alpha=0.35, linewidth=0, zorder=0, label=text)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda fraction, _: f"{100 * fraction:g}")
        axes.set_xlabel("part of K = 1's training (%)")
    null = (curves[f"null_{end}_mean"] for end in ("low", "high"))
    left.fill_between(curves["fraction_mean"], *null, color="0.5", alpha=0.3, linewidth=0, label="95 % of permutations")
    look = {"color": colour(large), "linestyle": "", "zorder": 4}
    left.plot(runs["fraction"], runs["similarity"], marker="v", label="largest of a run", **look)
    right.plot(runs["closest_fraction"], runs["closest_distance"], marker="^", label="smallest of a run", **look)
    left.set_ylabel(f"cosine with the final change of {label(large)}")
    right.set_ylabel("distance from the same final change,\nrelative to its length")
    lines = {name: line for axes in (left, right) for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=3)
    return figure


FIGURES = {"filters": grid, "filters_similarity": similarity, **KERNELS}
