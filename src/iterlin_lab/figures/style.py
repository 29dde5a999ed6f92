"""One look for all figures: the same colour for the same K everywhere, and the same bytes each time."""

import math
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

SETTINGS: Any = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "figure.labelsize": 8,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 8,
    "font.size": 8,
    "legend.fontsize": 8,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "iterlin",
}

LETTERS = "abcdef"
FONTS = "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, sans-serif"  # of one width, so that texts keep their places


def drawing() -> AbstractContextManager:
    """Matplotlib as all figures are drawn: without a screen, with these settings."""
    mpl.use("agg")
    return mpl.rc_context(SETTINGS)


def colour(K: float) -> tuple[float, float, float, float] | str:
    """Viridis over log K up to 10⁹; lazy training is black; without a K, truncated Gauss–Newton is vermillion."""
    if not math.isfinite(K):
        return "black" if math.isinf(K) else "#d55e00"
    return mpl.colormaps["viridis"](np.interp(math.log10(K), (0, 9), (0, 0.95)))


def damping_colour(damping: float) -> tuple[float, float, float, float] | str:
    """Plasma over log λ from 10⁻⁸ to 10, apart from the colours of K; grey without damping."""
    if damping == 0:
        return "0.45"
    return mpl.colormaps["plasma"](np.interp(math.log10(damping), (-8, 1), (0, 0.9)))


def line_style(K: float) -> str | tuple[int, tuple[float, float]]:
    """Solid and dashed in turn for powers of ten, since neighbours have near colours; dotted for the K between them."""
    if not math.isfinite(K):
        return "--" if math.isinf(K) else "-."
    decade = math.log10(K)
    if not decade.is_integer():
        return (0, (1.5, 1))
    return (0, (6, 1.5)) if decade % 2 else "-"


def percent(axes: Axes) -> None:
    """An accuracy axis, in percent."""
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=None, symbol=""))


def save(figure: Figure, stem: Path) -> None:
    """Write a figure as SVG and PNG, without dates."""
    save_drawing(figure, stem.with_suffix(".svg"))
    _write(figure, stem.with_suffix(".png"), metadata={"Software": None})


def save_drawing(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, in which text is text, without a date."""
    _letter(figure)
    _settle(figure)
    _write(figure, path, dpi="figure", metadata={"Date": None, "Creator": None})  # the dpi of parts that are pictures
    path.write_text(path.read_text(encoding="utf-8").replace("'DejaVu Sans'", FONTS), encoding="utf-8")


def _write(figure: Figure, path: Path, **settings: Any) -> None:
    """Without a layout engine, not even the one called "none": with one, every picture is drawn twice."""
    with mpl.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
        figure.savefig(path, **settings)


def _letter(figure: Figure) -> None:
    """Letters for captions to speak of; panels of a large grid have titles instead."""
    panels = [axes for axes in figure.axes if axes.get_subplotspec() and axes.axison]
    if 1 < len(panels) <= len(LETTERS):
        for letter, axes in zip(LETTERS, panels, strict=False):
            axes.set_title(letter, loc="left", fontweight="bold")


def _settle(figure: Figure) -> None:
    """Compute the layout once, and round it: the last bits of its solver depend on the processor's instructions."""
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    for axes in figure.axes:
        axes.set_position(np.round(axes.get_position(original=True).bounds, 5).tolist())
