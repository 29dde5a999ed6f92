"""A figure is drawn anew only where a table that it reads has changed, or any code."""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from iterlin_lab.figures.column import save_with_column
from iterlin_lab.files import digest, whole_folder
from iterlin_lab.runs.stopping import begin_worker
from iterlin_lab.runs.store import code_digest, versions
from iterlin_lab.runs.workers import num_workers

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


def draw_figures(folder: Path, figures: Mapping[str, Draw], source: Path) -> list[str]:
    """Put figures of the tables in `source` into the folder, by their names: as SVG, PNG, and as SVG of one column.

    Returns which of them were drawn for that, as many at once as there are processors.

    **Raises**: `SystemExit` where one cannot be drawn, whose process has said why.
    """
    stale = [name for name in figures if not _is_current(KEPT / name, source)]
    number = min(len(stale), num_workers(threads=1)) if sys.platform == "linux" else 1  # others cannot fork what draws
    if number < 2:
        _draw(figures, stale, source)
    else:
        fork = get_context("fork")
        parts = [fork.Process(target=_draw_beside, args=(figures, stale[i::number], source)) for i in range(number)]
        for part in parts:
            part.start()
        for part in parts:
            part.join()
        if any(part.exitcode for part in parts):
            sys.exit("not all figures could be drawn")
    for name in figures:
        for path in (KEPT / name).glob(f"{name}*"):
            shutil.copyfile(path, folder / path.name)
    return stale


def _draw_beside(figures: Mapping[str, Draw], names: Iterable[str], source: Path) -> None:
    begin_worker()
    _draw(figures, names, source)


def _draw(figures: Mapping[str, Draw], names: Iterable[str], source: Path) -> None:
    for name in names:
        tables = Tables(source)
        figure = figures[name](tables)
        with whole_folder(KEPT / name) as new:
            save_with_column(figure, new / name)
            (new / NOTE).write_text(json.dumps(_note(new, source, tables.asked)))
        plt.close(figure)


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
