"""What is shown: the cells of the sweep, as DVC's lock file knows them. Nothing here imports mlflow, jax or pandas."""

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.config import Scale
from iterlin_lab.experiments.k_sweep import tgn_recipe
from iterlin_lab.experiments.recipe import Recipe
from iterlin_lab.experiments.registry import EXPERIMENTS, LECTURE
from iterlin_lab.layout import Layout
from iterlin_lab.mend import locked_outs

OTHERS = (
    "sensitivity",
    "flow_check",
    "xor",
    "damp1d",
    "stability",
    *LECTURE,
    *EXPERIMENTS,
)  # no cell of E-SWEEP depends on these


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
        """Names the settings; the cells of other settings belong to another sweep."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()

    def versions(self) -> dict[str, str]:
        """What there is to show, each with what its content follows from."""
        shown = {str(cell.path): f"{self.digest} {cell.hash}" for cell in self.cells}
        if self.report and self.report.exists():
            shown[str(self.report)] = f"{self.digest} {self.report_hash}"
        return shown


def find_sweep(scale: Scale) -> Sweep:
    """The sweep of this scale: the cells that dvc.lock knows and that are here."""
    layout, hashes = Layout(scale.name), locked_outs()
    return Sweep(
        name=f"K-sweep, {scale.name}",
        scale=scale.name,
        settings=scale.model_dump(exclude={"k_sweep": {"periods"}} | dict.fromkeys(OTHERS, True)),
        cells=[cell for cell in _listed(scale, layout, hashes) if cell.hash and cell.path.exists()],
        report=layout.report,
        report_hash=hashes.get(f"report@{scale.name}", ""),
    )


def _listed(scale: Scale, layout: Layout, hashes: dict[str, str]) -> Iterator[Cell]:
    """Every cell that the parameters ask for, in their order."""

    def cell(stage: str, path: Path, group: str, name: str, params: dict[str, Any]) -> Cell:
        return Cell(stage, hashes.get(stage, ""), path, group, name, params)

    learning_rate = json.loads(layout.regime.read_text())["learning_rate"]
    solver = scale.k_sweep.solver.model_dump()
    sweep = {"solver": solver.pop("name"), "learning_rate": learning_rate} | solver
    for period in scale.k_sweep.periods:
        path = layout.results / "k_sweep" / period
        yield cell(f"k_sweep@{scale.name}-{period}", path, "sweep", f"K = {period}", {"K": period} | sweep)
    yield cell(f"tgn_baseline@{scale.name}", layout.results / "tgn", "sweep", "TGN", _described(tgn_recipe(scale, 0)))
    for factor in scale.sensitivity.factors:
        scaled = {
            "solver": "gradient_descent",
            "learning_rate": float(factor) * learning_rate,
            "learning_rate_factor": factor,
        }
        for period in scale.sensitivity.periods:
            path, name = layout.results / "sensitivity" / factor / period, f"K = {period}, η × {factor}"
            yield cell(f"sensitivity@{scale.name}-{factor}", path, "sensitivity", name, {"K": period} | scaled)
    for stage, experiment in EXPERIMENTS.items():
        for name, (recipe, *_) in experiment.cells(scale).items():
            title = f"{experiment.id}, {experiment.label.format(name)}"
            yield cell(f"{stage}@{scale.name}", layout.results / stage / name, stage, title, _described(recipe))


def _described(recipe: Recipe) -> dict[str, Any]:
    """What tells the runs of a cell from those of others."""
    solver = dict(recipe.solver)
    period = recipe.period if recipe.period is None or math.isinf(recipe.period) else int(recipe.period)
    values = {
        "K": "on convergence" if period is None else str(period),
        "solver": solver.pop("name"),
        "learning_rate": recipe.learning_rate,
        "tolerance": recipe.tolerance,
        "damping": recipe.damping,
        "num_train": recipe.sizes["train"],
        "batch_size": recipe.training["batch_size"],
    }
    return {name: value for name, value in (values | solver).items() if value is not None}
