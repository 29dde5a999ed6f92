"""What is shown: the cells of the sweep, as DVC's lock file knows them. Nothing here imports mlflow, jax or pandas."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from iterlin.config import Scale
from iterlin.layout import Layout


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
        return shown | {str(self.report): f"{self.digest} {self.report_hash}"}


def find_sweep(scale: Scale) -> Sweep:
    """The sweep of this scale: the cells that dvc.lock knows and that are here."""
    lock = YAML(typ="safe").load(Path("dvc.lock"))["stages"]
    layout = Layout(scale.name)
    report = lock.get(f"report@{scale.name}", {"outs": []})
    return Sweep(
        name=f"K-sweep, {scale.name}",
        scale=scale.name,
        settings=scale.model_dump(exclude={"k_sweep": {"periods"}, "sensitivity": True}),
        cells=[
            Cell(stage, lock[stage]["outs"][0]["md5"], *rest)
            for stage, *rest in _listed(scale, layout)
            if stage in lock and rest[0].exists()
        ],
        report=layout.report,
        report_hash=" ".join(out["md5"] for out in report["outs"]),
    )


def _listed(scale: Scale, layout: Layout):
    """Stage, folder, group, name and parameters of every cell that the parameters ask for."""
    learning_rate = json.loads(layout.regime.read_text())["learning_rate"]
    sgd = {"solver": "sgd", "learning_rate": learning_rate}
    for period in scale.k_sweep.periods:
        path = layout.results / "k_sweep" / period
        yield f"k_sweep@{scale.name}-{period}", path, "sweep", f"K = {period}", sgd | {"K": period}
    tgn = scale.tgn_baseline.model_dump(exclude={"num_seeds"})
    params = {"solver": "adam", "K": "on convergence"} | tgn
    yield f"tgn_baseline@{scale.name}", layout.results / "tgn", "sweep", "TGN", params
    for factor in scale.sensitivity.factors:
        scaled = sgd | {"learning_rate": float(factor) * learning_rate, "learning_rate_factor": factor}
        for period in scale.sensitivity.periods:
            path, name = layout.results / "sensitivity" / factor / period, f"K = {period}, η × {factor}"
            yield f"sensitivity@{scale.name}-{factor}", path, "sensitivity", name, scaled | {"K": period}
