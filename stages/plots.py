"""From tables and verdicts to figures, and to what `dvc plots show` draws."""

import json
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import chosen
from iterlin_lab.figures import forest
from iterlin_lab.figures.kept import Tables, draw_figure
from iterlin_lab.figures.style import SETTINGS, save
from iterlin_lab.figures.vega import coloured
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    mpl.use("agg")
    with whole_folder(layout.figures) as folder, mpl.rc_context(SETTINGS):
        for experiment in chosen(scale):
            for name, draw in experiment.figures.items():
                draw_figure(folder, name, draw, layout.tables)
        if figure := forest.forest(json.loads(layout.evidence.read_text())):
            save(figure, folder / forest.NAME)
    with whole_folder(layout.report / "plots") as folder:
        for name, table in plotted(layout.tables).items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")


def plotted(source: Path) -> dict[str, pd.DataFrame]:
    """Curves and cells of the sweep, if it was run."""
    tables = Tables(source)
    if "k_sweep" not in tables:
        return {}
    return {
        "curves": coloured(tables["k_sweep_curves"], "network_test_accuracy", "step"),
        "cells": coloured(tables["k_sweep"], "network_validation_stopped"),
    }


if __name__ == "__main__":
    main()
