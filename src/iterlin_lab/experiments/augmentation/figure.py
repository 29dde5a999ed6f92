"""The figure of E-AUG."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band
from iterlin_lab.figures.style import colour, label, percent

MODELS = {"network": "-", "proxy": ":"}


def augmentation(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 2: test accuracy of the network and of its linear proxy against steps, from the start and in full."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.6), sharey=True)
    for axes in panels:
        for cell, curve in tables["augmentation_curves"].groupby("cell", sort=False):
            for model, style in MODELS.items():
                if cell == "1" and model == "proxy":  # at K = 1 the two are the same
                    continue
                name = f"{label(str(cell))}, {'linear proxy' if model == 'proxy' else 'network'}"
                at = curve["step"] if axes is panels[1] else curve["step"].clip(lower=1)
                colour_of_K = colour(str(cell))
                band(axes, at, curve, f"{model}_test_accuracy", colour_of_K, linestyle=style, label=name)
        axes.set_xlabel("step t")
    panels[0].set_xscale("log")
    panels[0].set_xlim(left=1)
    panels[0].set_ylabel("test accuracy (%)")
    panels[1].legend(loc="lower right")
    percent(panels[0])
    return figure


FIGURES = {"augmentation": augmentation}
