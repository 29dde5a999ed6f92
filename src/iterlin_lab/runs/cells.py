"""Cells of runs that differ in their seed alone, trained and written. Nothing here imports jax."""

from itertools import chain, islice
from pathlib import Path

from iterlin_lab.runs.live import shown_live
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.runs.results import write_cell
from iterlin_lab.runs.workers import grouped, side_by_side
from iterlin_lab.settings.shared import Shared

TRAIN = "iterlin_lab.runs.training:run_kept"
MOVEMENT = "iterlin_lab.runs.kernels:movement"


def train_all(scale: Shared, data: Path, recipes: list[list[Recipe]], title: str) -> list[Path]:
    """Train the runs of all cells, groups of a cell's runs side by side; the folders of the runs, in their order."""
    limit_workers(scale)
    tasks = [(group, data) for cell in recipes for group in grouped(cell, scale.runs_at_once)]
    return list(chain.from_iterable(side_by_side(TRAIN, tasks, scale.threads, title, "run", sum(map(len, recipes)))))


def moved(
    scale: Shared, data: Path, trained: list[tuple[Recipe, Path]], num_examples: int, title: str
) -> list[dict[str, float]]:
    """How far the kernel of each run in these folders has moved (`runs.kernels.movement`), in their order."""
    tasks = [(data, num_examples, *run) for run in trained]
    return side_by_side(MOVEMENT, tasks, scale.threads, title, "run")


def run_cells(scale: Shared, data: Path, cells: dict[Path, list[Recipe]], title: str) -> None:
    """Train the runs of all cells, and write each to its folder."""
    with shown_live(title):
        folders = iter(train_all(scale, data, list(cells.values()), title))
    for folder, recipes in cells.items():
        write_cell(folder, list(islice(folders, len(recipes))))
