"""One look for all figures: the same colour for the same K everywhere, and the same bytes each time."""

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from iterlin_lab.settings import parse_period

SETTINGS: Any = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "savefig.dpi": 160,
    "svg.fonttype": "path",
    "svg.hashsalt": "iterlin",
}


def colour(cell: str) -> tuple[float, float, float, float] | str:
    """Viridis over log K up to 10⁸; lazy training is black, truncated Gauss–Newton vermillion."""
    if cell in ("inf", "tgn"):
        return {"inf": "black", "tgn": "#d55e00"}[cell]
    return mpl.colormaps["viridis"](np.interp(math.log10(parse_period(cell)), (0, 8), (0, 0.95)))


def damping_colour(damping: float) -> tuple[float, float, float, float] | str:
    """Plasma over log λ from 10⁻⁸ to 10, apart from the colours of K; grey without damping."""
    if damping == 0:
        return "0.45"
    return mpl.colormaps["plasma"](np.interp(math.log10(damping), (-8, 1), (0, 0.9)))


def label(cell: str) -> str:
    """What a cell is called in legends and tables."""
    names = {"inf": "K = ∞ (lazy)", "tgn": "TGN", "1": "K = 1 (GD)"}
    return names.get(cell, f"K = {cell}")


def line_style(cell: str) -> str | tuple[int, tuple[int, int]]:
    """Solid for powers of ten, which stand apart from the K between them."""
    if cell in ("inf", "tgn"):
        return {"inf": "--", "tgn": "-."}[cell]
    return "-" if math.log10(parse_period(cell)).is_integer() else (0, (5, 1))


def percent(axes: Axes) -> None:
    """An accuracy axis, in percent."""
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=None, symbol=""))


def save(figure: Figure, stem: Path) -> None:
    """Write a figure as SVG and PNG, without dates."""
    figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
    figure.savefig(stem.with_suffix(".png"), metadata={"Software": None})
