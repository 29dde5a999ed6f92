"""E-SWEEP (T fig. 3): from K = 1 (gradient descent) over K = ∞ (lazy training) to truncated Gauss–Newton."""

import math
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from iterlin.config import Scale
from iterlin.experiments.recipe import Recipe
from iterlin.live import shown_live
from iterlin.memory import limit_workers
from iterlin.results import write_cell
from iterlin.runtime import run_side_by_side
from iterlin.settings import parse_period

TGN = "tgn"
TRAIN = "iterlin.experiments.training_run:run_kept"


def recipe(scale: Scale, learning_rate: float, period: str, run: int) -> Recipe:
    """Run number `run` of the cell K = `period`: gradient descent or its flow (T Algorithm 3)."""
    sweep = scale.k_sweep
    steps = {"num_steps": sweep.num_steps, "first_record": sweep.first_record}
    return _recipe(scale, run, steps, sweep.solver.model_dump(), learning_rate, parse_period(period), None)


def rescaled_recipe(scale: Scale, learning_rate: float, period: str, run: int, factor: float) -> Recipe:
    """The same by gradient descent with the learning rate times `factor`, for the same times ηK and ηt."""
    rescaled = [scale.sensitivity.num_steps, scale.k_sweep.first_record, parse_period(period)]
    num_steps, first, K = (steps if math.isinf(steps) else max(1, round(steps / factor)) for steps in rescaled)
    steps = {"num_steps": num_steps, "first_record": first}
    return _recipe(scale, run, steps, {"name": "gradient_descent"}, factor * learning_rate, K, None)


def tgn_recipe(scale: Scale, run: int) -> Recipe:
    """Run number `run` of truncated Gauss–Newton: Adam on every lazy problem until its certificate holds (T §4.1)."""
    baseline = scale.tgn_baseline
    steps = {"num_steps": baseline.num_steps, "first_record": 1}
    return _recipe(scale, run, steps, {"name": "adam"}, baseline.learning_rate, None, baseline.tolerance)


def _recipe(
    scale: Scale,
    run: int,
    steps: dict[str, int],
    solver: dict[str, Any],
    learning_rate: float,
    period: float | None,
    tolerance: float | None,
) -> Recipe:
    return Recipe(
        seed=scale.seed,
        run=run,
        threads=scale.threads,
        runs_at_once=scale.runs_at_once,
        precision=scale.precision,
        sizes=scale.data.sizes,
        net=scale.net.model_dump(),
        training=scale.training.model_dump() | steps,
        solver=solver,
        learning_rate=learning_rate,
        period=period,
        tolerance=tolerance,
    )


def run_cells(scale: Scale, data: Path, cells: dict[Path, list[Recipe]], title: str) -> None:
    """Train the runs of all cells, groups of a cell's runs side by side, and write each cell to its folder."""
    limit_workers(scale)
    at_once = scale.runs_at_once
    groups = [
        recipes[start : start + at_once] for recipes in cells.values() for start in range(0, len(recipes), at_once)
    ]
    with shown_live(title), tqdm(total=sum(map(len, groups)), desc=title, unit="run") as bar:

        def progress(finished):
            for item in finished:
                yield item
                bar.update(len(item.result()))

        tasks = [(group, data) for group in groups]
        folders = chain.from_iterable(run_side_by_side(TRAIN, tasks, scale.threads, progress))
    for path, recipes in cells.items():
        write_cell(path, list(islice(folders, len(recipes))))
