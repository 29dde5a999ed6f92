"""All claims with an effect in points of accuracy, on one axis."""

import textwrap
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.claims.effects import POINTS, drawn, group, in_unit
from iterlin_lab.claims.verdicts import CONTRADICTED, INCONCLUSIVE, SUPPORTED

NAME = "claims"
LOOK = {SUPPORTED: ("#0072b2", "o"), CONTRADICTED: ("#d55e00", "X"), INCONCLUSIVE: ("0.4", "D")}
TEXT = 8  # points
SIZE = 5
WIDTH, LINE, TOP, BOTTOM = 7.0, 0.165, 0.6, 0.5  # inches
LEFT, RIGHT = 2.3, 4.6  # where the axis begins and ends, in inches
IDS, VERDICTS, PAPERS = 0.05, 4.7, 5.5  # where columns of text begin
WRAP = 22  # letters of the last column
APART = 0.6  # lines between two experiments
LINEAR = 2  # points on both sides of zero
TICKS = (-20, -5, -1, 0, 1, 5, 20)


def forest(claims: Mapping[str, dict[str, Any]]) -> Figure | None:
    """Effects with their 95 % intervals and margins, the verdicts, and what the papers say; None without effects."""
    shown = drawn(claims)
    if not shown:
        return None
    starts, lines = _places(shown)
    height = TOP + BOTTOM + LINE * lines
    figure = plt.figure(figsize=(WIDTH, height))
    figure.set_layout_engine("none")  # columns of text have their places
    axes = figure.add_axes((LEFT / WIDTH, BOTTOM / height, (RIGHT - LEFT) / WIDTH, LINE * lines / height))
    for (name, claim), start in zip(shown.items(), starts, strict=True):
        _claim(axes, name, claim, start)
    for inches, title in ((IDS, "claim"), (VERDICTS, "verdict"), (PAPERS, "what the source says")):
        _write(axes, inches, -0.8, title, weight="bold")
    _axis(axes, lines)
    _legend(axes, TOP / (LINE * lines))
    return figure


def _places(claims: Mapping[str, dict[str, Any]]) -> tuple[list[float], float]:
    """The first line of every claim, from the top, and the number of lines in all."""
    starts, end, last = [], 0.0, None
    for name, claim in claims.items():
        end += APART if last not in (None, group(name)) else 0
        starts.append(end)
        end, last = end + max(len(_effects(claim)), len(_paper(claim))), group(name)
    return starts, end


def _effects(claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [effect for effect in claim["effects"] if effect["unit"] == POINTS]


def _paper(claim: Mapping[str, Any]) -> list[str]:
    return textwrap.wrap(claim["paper"], WRAP)


def _claim(axes: Axes, name: str, claim: Mapping[str, Any], start: float) -> None:
    """Its rows, from its first line on."""
    color, marker = LOOK[claim["verdict"]]
    margin, found, first = in_unit(claim["margin"], POINTS), _effects(claim), start + 0.5
    axes.barh(start + 0.06, 2 * margin, len(found) - 0.12, -margin, align="edge", color="0.87", zorder=0)
    for line, effect in enumerate(found):
        ends = ([effect["mean"] - effect["low"]], [effect["high"] - effect["mean"]])
        axes.errorbar(
            effect["mean"], first + line, xerr=ends, fmt=marker, markersize=SIZE, color=color, capsize=2, zorder=3
        )
        _write(axes, LEFT - 0.08, first + line, effect["name"], ha="right")
    _write(axes, IDS, first, name)
    _write(axes, VERDICTS, first, claim["verdict"], color=color)
    for line, text in enumerate(_paper(claim)):
        _write(axes, PAPERS, first + line, text)


def _write(axes: Axes, inches: float, line: float, text: str, **look: Any) -> None:
    """Beside the axis, at a place from the left end of the figure."""
    at = (inches - LEFT) / (RIGHT - LEFT)
    axes.text(at, line, text, transform=axes.get_yaxis_transform(), fontsize=TEXT, va="center", **look)


def _axis(axes: Axes, lines: float) -> None:
    axes.axvline(0, color="0.35", linewidth=0.8, zorder=1)
    axes.set_xscale("symlog", linthresh=LINEAR)
    axes.set_ylim(lines, 0)
    axes.set_yticks([])
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in TICKS if low <= tick <= high])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:+.0f}".replace("-", "−") if tick else "0")
    axes.set_xlim(low, high)
    axes.tick_params(labelsize=TEXT)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"points of accuracy (to scale within ± {LINEAR}, logarithmic beyond)", fontsize=TEXT)


def _legend(axes: Axes, height: float) -> None:
    for verdict, (color, marker) in LOOK.items():
        axes.plot([], [], marker, markersize=SIZE, color=color, label=verdict)
    axes.barh(0, 0, color="0.87", label="margin")
    across = ((IDS - LEFT) / (RIGHT - LEFT), 1, (WIDTH - 2 * IDS) / (RIGHT - LEFT), height)
    axes.legend(loc="upper center", bbox_to_anchor=across, ncols=4, fontsize=TEXT)
