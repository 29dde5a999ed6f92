"""The tables that an experiment computes, kept in the store of finished runs.

An experiment is an `iterlin_lab.experiments.Experiment`, which stands above this floor.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from iterlin_lab.files import digest
from iterlin_lab.runs.results import FLOATS
from iterlin_lab.runs.store import kept

CODE = ("iterlin", "iterlin_lab")
PIPELINE = Path("dvc.yaml")


def computed(experiment: Any, scale: Any) -> Path:
    """The folder with the tables of an experiment, a CSV file each, computed now or in an earlier process."""

    def compute(folders: dict[int, Path], progress: Path) -> None:
        for name, rows in experiment.run(scale).items():
            rows.to_csv(folders[0] / f"{name}.csv", index=False, float_format=FLOATS)

    (folder,) = kept([described(experiment, scale)], CODE, compute)
    return folder


def described(experiment: Any, scale: Any) -> dict[str, Any]:
    """All that the tables depend on besides the code: settings, and the files that they are computed from."""
    files = {str(path): digest(path) for path in _files(experiment, scale)}
    return {"tables": experiment.name, "settings": experiment.of(scale).model_dump(mode="json"), "files": files}


def _files(experiment: Any, scale: Any) -> Iterator[Path]:
    for path in inputs(experiment, scale):
        yield from sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def inputs(experiment: Any, scale: Any) -> list[Path]:
    """The data and results that dvc.yaml says that its stage reads."""
    names = {"${item.scale}": scale.name, "${item.experiment}": experiment.name}
    found = []
    for dep in _stages()[experiment.stage]["deps"]:
        for name, value in names.items():
            dep = dep.replace(name, value)
        if dep.startswith(("data/", "results/")) and not dep.endswith("/check.txt"):
            found.append(Path(dep))
    return found


@cache
def _stages() -> dict[str, Any]:
    return YAML(typ="safe").load(PIPELINE)["stages"]
