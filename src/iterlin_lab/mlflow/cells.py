"""What is shown: the cells of the sweep, as DVC's lock file knows them. Nothing here imports mlflow, jax or pandas."""

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.dvc.status import locked_outs
from iterlin_lab.experiments import chosen
from iterlin_lab.layout import Layout
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.settings.shared import Shared


class Cell(NamedTuple):
    """A folder with runs that differ in their seed alone: an output of DVC's stage, or a part of one."""

    stage: str
    hash: str  # DVC's, of the stage's output
    path: Path
    group: str
    name: str
    params: dict[str, Any]


class Sweep(NamedTuple):
    """The cells that are here, in the order of params.yaml, what they share, and the version of the report."""

    name: str
    scale: str
    settings: dict[str, Any]
    cells: list[Cell]
    report: Path | None  # if it is to be shown
    report_hash: str

    @property
    def digest(self) -> str:
        """Names the settings; cells that came out otherwise with other settings are in another sweep."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()

    def versions(self) -> dict[str, str]:
        """What there is to show, each with what its content follows from."""
        shown = {str(cell.path): f"{self.digest} {cell.hash}" for cell in self.cells}
        if self.report and self.report.exists():
            shown[str(self.report)] = f"{self.digest} {self.report_hash}"
        return shown


def find_sweep(scale: Any) -> Sweep:
    """The sweep of this scale: the cells that dvc.lock knows and that are here."""
    layout, hashes = Layout(scale.name), locked_outs()
    return Sweep(
        name=f"K-sweep, {scale.name}",
        scale=scale.name,
        settings=scale.model_dump(include=set(Shared.model_fields)),
        cells=[cell for cell in _listed(scale, hashes) if cell.hash and cell.path.exists()],
        report=layout.report,
        report_hash=hashes.get(f"report@{scale.name}", ""),
    )


def _listed(scale: Any, hashes: dict[str, str]) -> Iterator[Cell]:
    """Every cell that the parameters ask for, in their order."""
    for experiment in chosen(scale):
        for stage, path, title, (recipe, *_) in experiment.cells(scale):
            yield Cell(stage, hashes.get(stage, ""), path, experiment.name, title, _described(recipe))


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
