"""What `dvc plots show` reads."""

from pathlib import Path

import pandas as pd

from iterlin_lab.figures.vega import coloured, page
from iterlin_lab.files import whole_folder, write_text
from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    curves, cells = (
        pd.read_csv(layout.tables / f"{name}.csv", dtype={"cell": str}) for name in ("k_sweep_curves", "k_sweep")
    )
    tables = {
        "curves": coloured(curves, "network_test_accuracy", "step"),
        "cells": coloured(cells, "network_validation_stopped"),
    }
    with whole_folder(layout.report / "plots") as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    write_text(Path("results/plots_page.html"), page())


if __name__ == "__main__":
    main()
