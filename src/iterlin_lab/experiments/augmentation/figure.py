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
    """T fig. 2: test accuracy of the network and of its linear proxy against steps."""
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for K, curve in grouped(tables["augmentation_curves"]):
        for model, style in MODELS.items():
            if K == 1 and model == "proxy":  # there the two are the same
                continue
            name = f"{label(K)}, {'linear proxy' if model == 'proxy' else 'network'}"
            at = curve["step"].clip(lower=1)
            band(axes, at, curve, f"{model}_test_accuracy", colour(K), linestyle=style, label=name)
    axes.set(xscale="log", xlabel="step t", ylabel="test accuracy (%)")
    axes.set_xlim(left=1)
    axes.legend(loc="upper left")
    percent(axes)
    return figure


FIGURES = {"augmentation": augmentation}
