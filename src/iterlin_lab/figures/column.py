"""A figure as one column, for phones and for pages of two columns: panels stand below each other, legends last."""

from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend

from iterlin_lab.figures.style import save, save_drawing
from iterlin_lab.report.drawings import COLUMN

WIDTH = 3.4  # inches
TALLEST = 2.6  # inches of one panel of several
MOST = 6  # panels; a larger grid is one picture
ACROSS, UPWARDS = 48, 38  # letters in a line beside an axis
LINE, LETTER, HANDLE = 0.17, 0.068, 0.5  # inches in a legend


def save_with_column(figure: Figure, stem: Path) -> None:
    """Write a figure as SVG and PNG, and as SVG of one column where it can be one."""
    save(figure, stem)
    if one_column(figure):
        save_drawing(figure, stem.with_name(f"{stem.name}{COLUMN}"))


def one_column(figure: Figure) -> bool:
    """Put the panels of a figure below each other, in place; False where they are too many, or stand in no grid."""
    parts: list[Any] = figure.subfigs or [figure]
    if not all(0 < len(_panels(part)) <= MOST for part in parts):
        return False
    figure.draw_without_rendering()  # so that legends have places
    figure.set_layout_engine("constrained")  # a figure that was saved has none any more
    for axes in figure.axes:
        axes.set_in_layout(True)
    heights = [_stack(part) for part in parts]
    figure.set_size_inches(WIDTH, sum(heights))
    if figure.subfigs:
        parts[0]._subplotspec.get_gridspec().set_height_ratios(heights)  # halves have no public way to other heights
    figure.draw_without_rendering()  # so that names on axes have places
    for axes in figure.axes:
        _turn(axes)
    return True


def _panels(part: Figure | SubFigure) -> list[Axes]:
    return [axes for axes in part.axes if axes.get_subplotspec()]


def _stack(part: Figure | SubFigure) -> float:
    """Inches that the part needs."""
    panels = _panels(part)
    heights = [_height(axes) if len(panels) == 1 else min(TALLEST, _height(axes)) for axes in panels]
    _say_again(panels)
    grid = part.add_gridspec(len(panels), 1, height_ratios=heights)
    for place, axes in enumerate(panels):
        axes.set_subplotspec(grid[place])
        axes.set_xlabel(_lines(axes.get_xlabel(), ACROSS))
        axes.set_ylabel(_lines(axes.get_ylabel(), UPWARDS))
    return sum(heights) + _legend_beneath(part)


def _height(axes: Axes) -> float:
    """Inches of the row in which the panel stands."""
    spec: Any = axes.get_subplotspec()
    ratios = spec.get_gridspec().get_height_ratios()
    return axes.figure.bbox.height / axes.figure.dpi * sum(ratios[row] for row in spec.rowspan) / sum(ratios)


def _say_again(panels: list[Axes]) -> None:
    """What one axis said for a whole row, or for a whole column."""
    for axes in panels:
        axes.tick_params(labelleft=True, labelbottom=True)
        for other in panels:
            if axes.get_shared_x_axes().joined(axes, other):
                axes.set_xlabel(axes.get_xlabel() or other.get_xlabel())
            if axes.get_shared_y_axes().joined(axes, other):
                axes.set_ylabel(axes.get_ylabel() or other.get_ylabel())


def _lines(text: str, letters: int) -> str:
    """Without a break in a formula."""
    return "\n".join(line if "$" in line else fill(line, letters) for line in text.split("\n"))


def _legend_beneath(part: Figure | SubFigure) -> float:
    """Put what legends say that stand in no panel, or would fill one, below all; the inches that it takes."""
    own = [legend for axes in part.axes if (legend := axes.get_legend())]
    legends = [legend for legend in own if not _fits(legend)] + part.legends
    if not legends:
        return 0
    shown = [pair for legend in legends for pair in zip(legend.legend_handles, legend.get_texts(), strict=True)]
    whole = {name: line for axes in part.axes for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    lines: dict[str, Any] = {name: whole.get(name, line) for line, text in shown for name in [text.get_text()]}
    columns = max(1, int(WIDTH / (HANDLE + LETTER * max(map(len, lines)))))
    title = " ".join(legend.get_title().get_text() for legend in legends)
    for legend in legends:
        legend.remove()
    part.legend(lines.values(), lines.keys(), title=title, loc="outside lower center", ncols=columns)
    return LINE * (-(-len(lines) // columns) + bool(title)) + 0.1


def _fits(legend: Legend) -> bool:
    """Whether it stands in its panel and leaves room for what the panel shows."""
    extent, panel = legend.get_window_extent(), legend.axes.bbox
    within = panel.contains((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2)
    return bool(within and extent.width < WIDTH / 2 * legend.axes.figure.dpi)


def _turn(axes: Axes) -> None:
    """Names of neighbours on an axis that would run into each other."""
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    if any(one.x1 > other.x0 for one, other in pairwise(label.get_window_extent() for label in labels)):
        axes.tick_params(axis="x", labelrotation=90)
        if any("\n" in label.get_text() for label in labels):
            axes.set_xticks(axes.get_xticks(), [label.get_text().replace("\n", " ") for label in labels])
