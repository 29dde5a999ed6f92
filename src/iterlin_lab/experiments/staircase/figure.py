"""The figure of L-KRR."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import dimension_colours

NAMES = {"RF": "random features, $K^{RF}$", "NT": "neural tangent, $K^{NT}$"}


def staircase(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Test error against log n / log d for every d, with the plateaus of theorem 1."""
    table, plateaus = tables["staircase"], tables["staircase_plateaus"]
    figure, panels = plt.subplots(1, 2, figsize=(7, 3.1), sharey=True, sharex=True)
    colours = dimension_colours(table["dimension"])
    for axes, (kernel, name) in zip(panels, NAMES.items(), strict=True):
        _plateaus(axes, plateaus, table["exponent"].max(), labelled=axes is panels[1])
        for dimension, color in colours.items():
            rows = table[(table["kernel"] == kernel) & (table["dimension"] == dimension)]
            mean, low, high = (rows[f"test_error_{part}"] for part in ("mean", "low", "high"))
            style = {"color": color, "marker": "o", "capsize": 2}
            axes.errorbar(rows["exponent"], mean, (mean - low, high - mean), label=f"d = {dimension}", **style)
        axes.set_title(name)
        axes.set_xlabel("log n / log d")
        axes.set_ylim(bottom=-0.02)
    panels[0].set_ylabel("test error, in units of $‖f^*‖^2$")
    panels[1].legend()
    return figure


def _plateaus(axes: Axes, plateaus: pd.DataFrame, last: float, labelled: bool) -> None:
    """‖P_{>l} f*‖² from n = d^l to d^(l+1)."""
    for degree, plateau in plateaus[plateaus["degree"] < last].to_numpy():
        ends = [degree, min(degree + 1, last)]
        axes.plot(ends, [plateau] * 2, color="0.25", linewidth=1, linestyle="--", zorder=1)
        if labelled and ends[1] - ends[0] > 0.3:
            place: Any = {"xytext": (-10, -3), "textcoords": "offset points", "va": "top"}  # curves come from above
            axes.annotate(f"$‖P_{{>{degree:g}}}f^*‖^2$", (degree, plateau), **place)


FIGURES = {"staircase": staircase}
