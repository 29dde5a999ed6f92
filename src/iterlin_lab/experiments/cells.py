"""Cells of runs that differ in their seed alone, trained and written. Nothing here imports jax."""

from itertools import chain, islice
from pathlib import Path

from iterlin_lab.config import Scale
from iterlin_lab.experiments.recipe import Recipe
from iterlin_lab.live import shown_live
from iterlin_lab.memory import limit_workers
from iterlin_lab.results import write_cell
from iterlin_lab.runtime import counted, run_side_by_side

TRAIN = "iterlin_lab.experiments.training_run:run_kept"


def run_cells(scale: Scale, data: Path, folder: Path, cells: dict[str, list[Recipe]], title: str) -> None:
    """Train the runs of all cells, groups of a cell's runs side by side, and write each cell below the folder."""
    limit_workers(scale)
    at_once = scale.runs_at_once
    groups = [
        recipes[start : start + at_once] for recipes in cells.values() for start in range(0, len(recipes), at_once)
    ]
    tasks = [(group, data) for group in groups]
    with shown_live(title):
        progress = counted(title, "run", sum(map(len, groups)), of=len)
        folders = chain.from_iterable(run_side_by_side(TRAIN, tasks, scale.threads, progress))
    for cell, recipes in cells.items():
        write_cell(folder / cell, list(islice(folders, len(recipes))))
