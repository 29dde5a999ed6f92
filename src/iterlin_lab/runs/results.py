"""The files of a cell: curves, one row a run, and the trained models.

results/<scale>/<experiment>/<cell>/curves.csv, runs.csv, models/<run>.eqx; where the networks along training are kept,
snapshots/<run>/<step>.eqx
"""

import hashlib
import json
import shutil
from pathlib import Path

import pandas as pd

from iterlin_lab.files import whole_folder, write_text

FLOATS = "%.8g"


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
            for step, kept in kept_networks(run).items():
                (own := folder / "snapshots" / str(row["run"])).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(kept, own / f"{step}.eqx")
        pd.concat(curves).to_csv(folder / "curves.csv", index=False, float_format=FLOATS)
        pd.DataFrame(rows).to_csv(folder / "runs.csv", index=False, float_format=FLOATS)
    write_text(_origin(path), json.dumps({"digest": _digest(path), "runs": [str(run) for run in runs]}))


def snapshot(folder: Path, step: int) -> Path:
    """Where a run in progress keeps its network at a step."""
    return folder / f"at-{step}.eqx"


def kept_networks(folder: Path) -> dict[int, Path]:
    """The networks that a run has kept along training, by their steps, in order."""
    return _by_step(folder, "at-")


def snapshots(path: Path, run: int) -> dict[int, Path]:
    """The networks of a run of a cell, by their steps, in order."""
    return _by_step(path / "snapshots" / str(run))


def _by_step(folder: Path, prefix: str = "") -> dict[int, Path]:
    files = {int(file.stem.removeprefix(prefix)): file for file in folder.glob(f"{prefix}*.eqx")}
    return dict(sorted(files.items()))


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
