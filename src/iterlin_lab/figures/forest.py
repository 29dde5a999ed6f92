"""All claims with an effect in points of accuracy, on one axis."""

import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.claims.effects import POINTS, drawn, group, in_unit
from iterlin_lab.claims.verdicts import CONTRADICTED, INCONCLUSIVE, SUPPORTED
from iterlin_lab.figures.column import WIDTH

NAME = "claims"
LOOK = {SUPPORTED: ("#0072b2", "o"), CONTRADICTED: ("#d55e00", "X"), INCONCLUSIVE: ("0.4", "D")}
TEXT = 8  # points
SIZE = 5
LINE, TOP, BOTTOM = 0.165, 0.6, 0.6  # inches
IDS = 0.05  # inches from the left end
WRAP = 22  # letters of the last column
APART = 0.6  # lines between two experiments
LINEAR = 2  # points on both sides of zero


class Columns(NamedTuple):
    """Where the axis begins and ends, and columns of text begin, if they are shown; inches from the left end."""

    width: float
    left: float
    right: float
    ticks: tuple[int, ...]  # points of accuracy
    verdicts: float | None = None
    papers: float | None = None


WIDE = Columns(7.0, 2.3, 4.6, (-20, -5, -1, 0, 1, 5, 20), 4.7, 5.5)
NARROW = Columns(WIDTH, 2.25, WIDTH - 0.15, (-20, -5, 0, 5, 20))  # colours alone give the verdicts


def forest(claims: Mapping[str, dict[str, Any]], columns: Columns = WIDE) -> Figure | None:
    """Effects with their 95 % intervals and margins, the verdicts, and what the papers say; None without effects."""
    shown = drawn(claims)
    if not shown:
        return None
    starts, lines = _lines(shown, columns)
    height, (width, left, right, *_) = TOP + BOTTOM + LINE * lines, columns
    figure = plt.figure(figsize=(width, height))
    figure.set_layout_engine("none")  # columns of text have their places
    axes = figure.add_axes((left / width, BOTTOM / height, (right - left) / width, LINE * lines / height))
    write = partial(_write, axes, columns)
    for (name, claim), start in zip(shown.items(), starts, strict=True):
        _claim(axes, write, columns, name, claim, start)
    for inches, title in ((IDS, "claim"), (columns.verdicts, "verdict"), (columns.papers, "what the source says")):
        write(inches, -0.8, title, weight="bold")
    _axis(axes, columns.ticks, lines)
    _legend(axes, columns, TOP / (LINE * lines))
    return figure


def _lines(claims: Mapping[str, dict[str, Any]], columns: Columns) -> tuple[list[float], float]:
    """The first line of every claim, from the top, and the number of lines in all."""
    starts, end, last = [], 0.0, None
    for name, claim in claims.items():
        end += APART if last not in (None, group(name)) else 0
        starts.append(end)
        end, last = end + max(len(_effects(claim)), len(_paper(claim)) if columns.papers else 0), group(name)
    return starts, end


def _effects(claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [effect for effect in claim["effects"] if effect["unit"] == POINTS]


def _paper(claim: Mapping[str, Any]) -> list[str]:
    return textwrap.wrap(claim["paper"], WRAP)


def _claim(axes: Axes, write: Callable, columns: Columns, name: str, claim: Mapping[str, Any], start: float) -> None:
    """Its rows, from its first line on."""
    color, marker = LOOK[claim["verdict"]]
    margin, found, first = in_unit(claim["margin"], POINTS), _effects(claim), start + 0.5
    axes.barh(start + 0.06, 2 * margin, len(found) - 0.12, -margin, align="edge", color="0.87", zorder=0)
    for line, effect in enumerate(found):
        ends = ([effect["mean"] - effect["low"]], [effect["high"] - effect["mean"]])
        axes.errorbar(
            effect["mean"], first + line, xerr=ends, fmt=marker, markersize=SIZE, color=color, capsize=2, zorder=3
        )
        write(columns.left - 0.08, first + line, effect["name"], ha="right")
    write(IDS, first, name)
    write(columns.verdicts, first, claim["verdict"], color=color)
    for line, text in enumerate(_paper(claim)):
        write(columns.papers, first + line, text)


def _write(axes: Axes, columns: Columns, inches: float | None, line: float, text: str, **look: Any) -> None:
    """Beside the axis, at a place from the left end of the figure, if there is one."""
    if inches is None:
        return
    at = (inches - columns.left) / (columns.right - columns.left)
    axes.text(at, line, text, transform=axes.get_yaxis_transform(), fontsize=TEXT, va="center", **look)


def _axis(axes: Axes, ticks: tuple[int, ...], lines: float) -> None:
    axes.axvline(0, color="0.35", linewidth=0.8, zorder=1)
    axes.set_xscale("symlog", linthresh=LINEAR)
    axes.set_ylim(lines, 0)
    axes.set_yticks([])
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in ticks if low <= tick <= high])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:+.0f}".replace("-", "−") if tick else "0")
    axes.set_xlim(low, high)
    axes.tick_params(labelsize=TEXT)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"points of accuracy (to scale\nwithin ± {LINEAR}, logarithmic beyond)", fontsize=TEXT, loc="right")


def _legend(axes: Axes, columns: Columns, height: float) -> None:
    for verdict, (color, marker) in LOOK.items():
        axes.plot([], [], marker, markersize=SIZE, color=color, label=verdict)
    axes.barh(0, 0, color="0.87", label="margin")
    width, left, right, *_ = columns
    across = ((IDS - left) / (right - left), 1, (width - 2 * IDS) / (right - left), height)
    axes.legend(loc="upper center", bbox_to_anchor=across, ncols=4 if columns.verdicts else 2, fontsize=TEXT)
