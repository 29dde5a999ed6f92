"""What is shown: the cells of a scale, as DVC's lock file knows them. Nothing here imports mlflow, jax or pandas."""

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.dvc.status import locked_outs
from iterlin_lab.experiments import Experiment, chosen
from iterlin_lab.layout import Layout
from iterlin_lab.report.names import typeset
from iterlin_lab.runs.recipes import Recipe

BEST = "best cell"  # which follows from all of them


class Cell(NamedTuple):
    """A folder with runs that differ in their seed alone: an output of DVC's stage, or a part of one."""

    experiment: Experiment
    stage: str
    hash: str  # DVC's, of the stage's output
    path: Path
    name: str
    params: dict[str, Any]
    data: Path


class Results(NamedTuple):
    """The cells that are here, in the order of params.yaml, and the report if it is to be shown."""

    scale: Any
    cells: list[Cell]
    report: Path | None
    report_hash: str

    def versions(self) -> dict[str, str]:
        """What there is to show, each with DVC's hash."""
        shown = {str(cell.path): cell.hash for cell in self.cells}
        shown[BEST] = hashlib.sha256(json.dumps(shown).encode()).hexdigest()
        if self.report and self.report.exists():
            shown[str(self.report)] = self.report_hash
        return shown


def find_results(scale: Any, report: bool = True) -> Results:
    """What dvc.lock knows of this scale and is here."""
    hashes = locked_outs()
    cells = [cell for cell in _listed(scale, hashes) if cell.hash and cell.path.exists()]
    shown = Layout(scale.name).report if report else None
    return Results(scale, cells, shown, hashes.get(f"report@{scale.name}", ""))


def _listed(scale: Any, hashes: dict[str, str]) -> Iterator[Cell]:
    """Every cell that the parameters ask for, in their order."""
    for experiment in chosen(scale):
        data = experiment.data(scale)
        for stage, path, title, (recipe, *_) in experiment.cells(scale):
            yield Cell(experiment, stage, hashes.get(stage, ""), path, typeset(title), _described(recipe), data)


def _described(recipe: Recipe) -> dict[str, Any]:
    """What tells the runs of a cell from the runs of other cells."""
    solver, schedule = dict(recipe.solver), dict(recipe.schedule or {})
    period = recipe.period if recipe.period is None or math.isinf(recipe.period) else int(recipe.period)
    values = {
        "K": schedule.pop("name", "on convergence") if period is None else str(period),
        "solver": solver.pop("name"),
        "learning_rate": recipe.learning_rate,
        "tolerance": recipe.tolerance,
        "damping": recipe.damping,
        "num_train": recipe.sizes["train"],
        "batch_size": recipe.training["batch_size"],
        "layers": recipe.layers,
        "damping_change": recipe.damping_change,
        "order": None if recipe.order == 1 else recipe.order,
    }
    return {name: value for name, value in (values | solver | schedule).items() if value is not None}
