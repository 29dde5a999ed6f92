"""The files of a cell: curves, one row a run, and the trained models.

results/<scale>/<experiment>/<cell>/curves.csv, runs.csv, models/<run>.eqx
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

FLOATS = "%.8g"
UNFINISHED = Path(".cache/unfinished")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `path` only once it is complete."""
    with _unfinished(path) as new:
        new.mkdir()
        yield new
        if path.exists():
            os.replace(path, new.with_name("old"))
        os.replace(new, path)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that is never seen half-written."""
    with _unfinished(path) as new:
        new.write_bytes(content)
        os.replace(new, path)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Where to write what is to be at `path`: not beside it, where DVC would count what a process that was killed has
    left there as a result. One process at a time writes an output.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = UNFINISHED / hashlib.sha256(str(path).encode()).hexdigest()[:16]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder / "new"
    shutil.rmtree(folder)


def write_text(path: Path, text: str) -> None:
    """The same for text."""
    write_bytes(path, text.encode())


def write_cell(path: Path, runs: list[Path]) -> None:
    """Gather the folders of finished runs, in their order, into one cell, and remember which they were."""
    with whole_folder(path) as folder:
        (folder / "models").mkdir()
        curves, rows = [], []
        for run in runs:
            row = json.loads((run / "run.json").read_text())
            curve = pd.read_csv(run / "curve.csv")
            curve.insert(0, "run", row["run"])
            rows.append(row)
            curves.append(curve)
            shutil.copyfile(run / "model.eqx", folder / "models" / f"{row['run']}.eqx")
        pd.concat(curves).to_csv(folder / "curves.csv", index=False, float_format=FLOATS)
        pd.DataFrame(rows).to_csv(folder / "runs.csv", index=False, float_format=FLOATS)
    write_text(_origin(path), json.dumps({"digest": _digest(path), "runs": [str(run) for run in runs]}))


def origin(path: Path) -> list[Path]:
    """The folders that a cell was gathered from, if that happened here and they are still there."""
    try:
        known = json.loads(_origin(path).read_text())
    except FileNotFoundError:
        return []
    runs = [Path(run) for run in known["runs"]]
    return runs if known["digest"] == _digest(path) and all(run.exists() for run in runs) else []


def _origin(path: Path) -> Path:
    return Path(".cache/cells") / f"{'-'.join(path.parts)}.json"


def _digest(path: Path) -> str:
    return hashlib.sha256((path / "curves.csv").read_bytes() + (path / "runs.csv").read_bytes()).hexdigest()


def read_cells(folder: Path, cells: list[str], table: str) -> pd.DataFrame:
    """`curves` or `runs` of the listed cells alone, in that order, with a first column `cell`."""
    frames = [pd.read_csv(folder / cell / f"{table}.csv") for cell in cells]
    return pd.concat(frames, keys=cells, names=["cell", None]).reset_index(level="cell").reset_index(drop=True)
