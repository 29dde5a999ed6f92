"""What figures of several experiments have in their panels."""

from collections.abc import Iterable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

# Where runs diverged.
CROSS: dict[str, Any] = {"marker": "X", "markersize": 8, "markeredgecolor": "white", "linestyle": "", "zorder": 4}


def grouped(table: pd.DataFrame, by: str | list[str] = "K") -> Iterator[tuple[Any, pd.DataFrame]]:
    """Every K with its rows, truncated Gauss–Newton, which has none, among them; or every value of other columns."""
    return iter(table.groupby(by, sort=False, dropna=False))


def halves(figure: Figure) -> list[SubFigure]:
    """The upper and the lower half of a figure, whose axes and legends need not be below each other."""
    return list(figure.subfigures(2, 1, squeeze=False)[:, 0])


def legend_beneath(axes: Axes, columns: int | None = None, **style: Any) -> None:
    """What the lines of these axes stand for, beneath all panels; in one row, or in so many columns."""
    lines = axes.get_legend_handles_labels()
    axes.figure.legend(*lines, loc="outside lower center", ncols=columns or len(lines[0]), **style)


def band(axes: Axes, x: Any, curve: pd.DataFrame, name: str, color: Any, **line: Any) -> None:
    """A mean curve with its interval."""
    axes.plot(x, curve[f"{name}_mean"], color=color, **line)
    axes.fill_between(x, curve[f"{name}_low"], curve[f"{name}_high"], color=color, alpha=0.15, linewidth=0)


def mean_points(axes: Axes, at: Any, table: pd.DataFrame, name: str, colours: Iterable[Any], marker: str = "o") -> None:
    """Means with their intervals, a row of the table each."""
    columns = (table[f"{name}_{part}"] for part in ("mean", "low", "high"))
    for x, color, mean, low, high in zip(at, colours, *columns, strict=True):
        axes.errorbar(x, mean, ([mean - low], [high - mean]), fmt=marker, color=color, capsize=2.5, zorder=3)


def equivalence_margin(axes: Axes, margin: float) -> None:
    """Where a difference is none."""
    axes.axhspan(-margin, margin, color="0.85", zorder=0, linewidth=0, label=f"± {100 * margin:g} points")
    axes.axhline(0, color="0.35", linewidth=0.8)


def dimension_colours(dimensions: pd.Series) -> dict[int, Any]:
    """A colour for every input dimension d: cividis over their order, apart from the colours of K and λ."""
    found = sorted(set(dimensions))
    return dict(zip(found, mpl.colormaps["cividis"](np.linspace(0, 0.9, len(found))), strict=True))
