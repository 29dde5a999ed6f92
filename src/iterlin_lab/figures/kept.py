"""A figure is drawn anew only where a table that it reads has changed, or any code."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.figures.column import save_with_column
from iterlin_lab.files import digest, whole_folder
from iterlin_lab.runs.store import code_digest, versions

KEPT = Path(".cache/figures")
NOTE = "drawn_from.json"
CODE = ("iterlin", "iterlin_lab")
LIBRARIES = ("matplotlib", "numpy", "pandas", "scipy")

Draw = Callable[[Mapping[str, pd.DataFrame]], Figure]


class Tables(Mapping[str, pd.DataFrame]):
    """The tables of a folder by their names, and which of them were asked for."""

    def __init__(self, folder: Path):
        self._files = {path.stem: path for path in sorted(folder.glob("*.csv"))}
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.asked.add(name)
        return pd.read_csv(self._files[name])

    def __iter__(self) -> Iterator[str]:
        self.asked |= self._files.keys()
        return iter(self._files)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def draw_figure(folder: Path, name: str, draw: Draw, source: Path) -> bool:
    """Put a figure of the tables in `source` into the folder: as SVG and PNG, and as SVG of one column.

    Returns whether it was drawn for that.
    """
    kept = KEPT / name
    known = _is_current(kept, source)
    if not known:
        tables = Tables(source)
        figure = draw(tables)
        with whole_folder(kept) as new:
            save_with_column(figure, new / name)
            (new / NOTE).write_text(json.dumps(_note(new, source, tables.asked)))
        plt.close(figure)
    for path in kept.glob(f"{name}*"):
        shutil.copyfile(path, folder / path.name)
    return not known


def _is_current(kept: Path, source: Path) -> bool:
    """Whether the figure is there, whole, and was drawn by this code from tables with these bytes."""
    if not (kept / NOTE).exists():
        return False
    note = json.loads((kept / NOTE).read_text())
    return note == _note(kept, source, note["tables"])


def _note(kept: Path, source: Path, names: Iterable[str]) -> dict:
    return {
        "code": code_digest(CODE),
        "libraries": versions(LIBRARIES),
        "tables": {name: digest(path) if (path := source / f"{name}.csv").exists() else "" for name in names},
        "files": {path.name: digest(path) for path in kept.iterdir() if path.name != NOTE},
    }
