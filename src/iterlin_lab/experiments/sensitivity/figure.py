"""The figure of what stands around E-SWEEP."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.experiments.sensitivity.section import variants
from iterlin_lab.figures.panels import CROSS
from iterlin_lab.figures.style import colour, percent
from iterlin_lab.report.names import label

READING = "network_validation_stopped"


def sensitivity(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """What the choice of the learning rate and of the initialisation changes: accuracy per K."""
    table = tables["sensitivity"].assign(variant=variants)
    periods, names = table["K"].unique(), table["variant"].unique()
    figure, axes = plt.subplots(figsize=(4.6, 3.2))
    for shift, K in zip(np.linspace(-0.1, 0.1, len(periods)), periods, strict=True):
        rows = table[table["K"] == K]
        mean = rows[f"{READING}_mean"]
        errors = (mean - rows[f"{READING}_low"], rows[f"{READING}_high"] - mean)
        axes.errorbar(
            np.arange(len(rows)) + shift, mean, errors, fmt="o-", color=colour(K), capsize=2.5, label=label(K)
        )
        lost = rows["diverged"].to_numpy() > 0
        axes.plot((np.arange(len(rows)) + shift)[lost], mean[lost], **CROSS, color=colour(K))
    if table["diverged"].any():
        axes.plot([], [], **CROSS, color="0.35", label="some runs diverged")
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel("the sweep's own setting, and what is changed in it")
    axes.set_ylabel("test accuracy of the network (%)")
    percent(axes)
    axes.legend()
    return figure


FIGURES = {"sensitivity": sensitivity}
