"""Run an experiment, or the part of it that DVC_STAGE names: train its cells, or compute its tables."""

import shutil

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import run_cells
from iterlin_lab.runs.computed import computed
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    address, (name, *part) = begin_stage(scale)
    experiment = EXPERIMENTS[name]
    cells = {cell.path: cell.recipes for cell in experiment.cells(scale) if cell.stage == address}
    if cells:
        run_cells(scale, experiment.data(scale), cells, experiment.title(part))
        return
    tables = computed(experiment, scale)
    with whole_folder(Layout(scale.name).results / name) as folder:
        for table in tables.glob("*.csv"):
            shutil.copyfile(table, folder / table.name)


if __name__ == "__main__":
    main()
