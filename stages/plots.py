"""From tables and verdicts to figures, and to what `dvc plots show` draws."""

import json
from collections.abc import Iterator
from typing import Any

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import chosen
from iterlin_lab.figures import forest, method
from iterlin_lab.figures.kept import Tables, draw_figures
from iterlin_lab.figures.style import drawing, save, save_drawing
from iterlin_lab.figures.vega import coloured
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.report.drawings import COLUMN
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    figures = {name: draw for experiment in chosen(scale) for name, draw in experiment.figures.items()}
    figures[method.NAME] = lambda _: method.method()
    with whole_folder(layout.figures) as folder, drawing():
        draw_figures(folder, figures, layout.tables)
        claims = json.loads(layout.evidence.read_text())
        if figure := forest.forest(claims):
            save(figure, folder / forest.NAME)
        if figure := forest.forest(claims, forest.NARROW):
            save_drawing(figure, folder / f"{forest.NAME}{COLUMN}")
    with whole_folder(layout.report / "plots") as folder:
        for name, table in plotted(Tables(layout.tables)):
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")


def plotted(tables: Tables) -> Iterator[tuple[str, Any]]:
    """Curves and cells of the sweep, if it was run."""
    if "k_sweep" in tables:
        yield "curves", coloured(tables["k_sweep_curves"], "network_test_accuracy", "step")
        yield "cells", coloured(tables["k_sweep"], "network_validation_stopped")


if __name__ == "__main__":
    main()
