"""The figure of E-AUG."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label

MODELS = {"network": "-", "proxy": ":"}


def augmentation(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """T fig. 2: test accuracy of the network and of its linear proxy against steps, from the start and in full."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.6), sharey=True)
    for axes in panels:
        for K, curve in grouped(tables["augmentation_curves"]):
            for model, style in MODELS.items():
                if K == 1 and model == "proxy":  # there the two are the same
                    continue
                name = f"{label(K)}, {'linear proxy' if model == 'proxy' else 'network'}"
                at = curve["step"] if axes is panels[1] else curve["step"].clip(lower=1)
                band(axes, at, curve, f"{model}_test_accuracy", colour(K), linestyle=style, label=name)
        axes.set_xlabel("step t")
    panels[0].set_xscale("log")
    panels[0].set_xlim(left=1)
    panels[0].set_ylabel("test accuracy (%)")
    panels[1].legend(loc="lower right")
    percent(panels[0])
    return figure


FIGURES = {"augmentation": augmentation}
