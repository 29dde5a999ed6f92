"""What is shown: the cells of the sweep, as DVC's lock file knows them. Nothing here imports mlflow, jax or pandas."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from iterlin.config import Scale
from iterlin.layout import Layout
from iterlin.settings import Solved

OTHERS = (
    "sensitivity",
    "flow_check",
    "adam",
    "damp_ce",
    "xor",
    "damp1d",
)  # sections that no cell of E-SWEEP depends on


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
    report: Path
    report_hash: str

    @property
    def digest(self) -> str:
        """Names the settings; the cells of other settings belong to another sweep."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()

    def versions(self) -> dict[str, str]:
        """What there is to show, each with what its content follows from."""
        shown = {str(cell.path): f"{self.digest} {cell.hash}" for cell in self.cells}
        report = {str(self.report): f"{self.digest} {self.report_hash}"}
        return shown | report if self.report.exists() else shown


def find_sweep(scale: Scale) -> Sweep:
    """The sweep of this scale: the cells that dvc.lock knows and that are here."""
    stages = YAML(typ="safe").load(Path("dvc.lock"))["stages"]
    hashes = {name: " ".join(out["md5"] for out in stage["outs"]) for name, stage in stages.items()}
    layout = Layout(scale.name)
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
    yield cell(f"tgn_baseline@{scale.name}", layout.results / "tgn", "sweep", "TGN", _solved(scale.tgn_baseline))
    for factor in scale.sensitivity.factors:
        scaled = {
            "solver": "gradient_descent",
            "learning_rate": float(factor) * learning_rate,
            "learning_rate_factor": factor,
        }
        for period in scale.sensitivity.periods:
            path, name = layout.results / "sensitivity" / factor / period, f"K = {period}, η × {factor}"
            yield cell(f"sensitivity@{scale.name}-{factor}", path, "sensitivity", name, {"K": period} | scaled)
    for name in scale.adam.cells:
        path = layout.results / "adam" / name
        yield cell(f"adam@{scale.name}", path, "adam", f"E-ADAM, {name}", _adam(scale, name))
    for damping in scale.damp_ce.dampings:
        path, name = layout.results / "damp_ce" / damping, f"E-DAMPCE, λ = {damping}"
        yield cell(f"damp_ce@{scale.name}", path, "damp_ce", name, _solved(scale.damp_ce) | {"damping": damping})


def _solved(settings: Solved) -> dict[str, Any]:
    """The solver of lazy problems that are solved to a certificate."""
    solver = settings.solver.model_dump()
    return {"K": "on convergence", "solver": solver.pop("name")} | solver


def _adam(scale: Scale, name: str) -> dict[str, Any]:
    """What a cell of E-ADAM has that others have not."""
    gradient, solved = scale.adam.gradient, scale.adam.solved
    if name == "gradient":
        return {"K": "1", "solver": "adam", "learning_rate": gradient.learning_rate}
    if name == "solved":
        return {"K": solved.period, "solver": "adam", "learning_rate": solved.learning_rate}
    return {"K": "on convergence", "solver": "truncated", "tolerance": name.removeprefix("truncated-")}
