"""The figure of E-PROBE."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour, line_style, percent
from iterlin_lab.report.names import label


def probes(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 5: test accuracy of linear probes against steps, a panel a layer, with a line where each K ends."""
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.9))
    for number, axes in enumerate(panels, 1):
        name = f"layer{number}"
        for K, curve in grouped(tables["probes_curves"]):
            at = curve["step"].clip(lower=1)
            band(axes, at, curve, name, colour(K), linestyle=line_style(K), label=label(K))
            axes.axhline(curve[f"{name}_mean"].iloc[-1], color=colour(K), linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="step t", ylabel="test accuracy of the probe (%)")
        axes.set_xlim(left=1)
        axes.set_title(f"layer {number}")
        percent(axes)
    panels[0].legend(loc="best")
    return figure


FIGURES = {"probes": probes}
