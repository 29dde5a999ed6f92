"""The figure of B-NTK."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from iterlin_lab.figures.panels import band, grouped
from iterlin_lab.figures.style import colour
from iterlin_lab.report.names import label

PARTS = {"layer1": ("layer 1", "-"), "layer2": ("layer 2", "--"), "rest": ("later layers", ":")}
LAYERS = {"layer1": ("layer 1", "-"), "layer2": ("layer 2", "--")}


def kernels(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """The NTK and the activations against steps: how far they are from initialisation, and how aligned with labels."""
    figure, panels = plt.subplots(2, 2, figsize=(7, 5.0), sharex=True)
    (whole, parts), (alignment, cka) = panels
    curves = tables["kernels_curves"]
    for K, curve in grouped(curves):
        look = {"color": colour(K), "marker": "o" if K == 1 else "s", "markersize": 3}
        _lines(whole, curve, look, {"distance_ntk": (label(K), "-")})
        _lines(parts, curve, look, {f"distance_{name}": part for name, part in PARTS.items()})
        _lines(alignment, curve, look, {"alignment": (label(K), "-")})
        _lines(cka, curve, look, {f"cka_{name}": layer for name, layer in LAYERS.items()})
    whole.legend()
    for axes, names in ((parts, PARTS), (cka, LAYERS)):  # what the colours are is said on the left
        handles = [Line2D([], [], color="0.35", label=text, ls=style) for text, style in names.values()]
        axes.legend(handles=handles)
    whole.set_ylabel("kernel distance of the NTK")
    parts.set_ylabel("kernel distance of the NTK's parts")
    alignment.set_ylabel("alignment of the NTK with the labels")
    cka.set_ylabel("CKA of activations with initial ones")
    for axes in panels[1]:
        axes.set_xlabel("step t")
    whole.set_xscale("log")
    return figure


def _lines(axes: Axes, curve: pd.DataFrame, look: dict, names: dict[str, tuple[str, str]]) -> None:
    """Lines from the first step or the first feature update on: step 0 has no place on a logarithmic axis."""
    later = curve[curve["step"] > 0]
    for name, (text, style) in names.items():
        band(axes, later["step"], later, name, **look, label=text, linestyle=style)


FIGURES = {"kernels": kernels}
