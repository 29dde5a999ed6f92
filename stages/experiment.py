"""Run an experiment, or the part of it that DVC_STAGE names: train its cells, or compute its tables."""

from pathlib import Path

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.runs.results import FLOATS
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    address, (name, *part) = begin_stage(scale)
    experiment = EXPERIMENTS[name]
    cells = {cell.path: cell.recipes for cell in experiment.cells(scale) if cell.stage == address}
    if cells:
        from iterlin_lab.runs.cells import run_cells

        run_cells(scale, experiment.data(scale), cells, experiment.title(part))
    else:
        write_tables(experiment, scale, Layout(scale.name).results / name)


def write_tables(experiment: Experiment, scale, path: Path) -> None:
    tables = experiment.run(scale)
    with whole_folder(path) as folder:
        for table, rows in tables.items():
            rows.to_csv(folder / f"{table}.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
