"""Work in progress and finished runs, kept outside DVC, so that a stage which starts again repeats none of them.

An entry is a folder named by the digest of everything that the run depends on: its parameters, its inputs, the code
and the versions of the libraries that it runs. It has digests of its files too, and counts only while these hold. While
runs train, they have a folder of their own in `TRAINING`, which one process at a time holds by a lock.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from iterlin_lab.files import alone, digest, durable
from iterlin_lab.runs.results import FLOATS

SCRATCH = Path(".cache/runs")
TRAINING = Path(".cache/training")
SOURCE = Path(__file__).parent.parent.parent
ROWS, DIGESTS = "rows.json", "digests.json"
LIBRARIES = ("jax", "jaxlib", "equinox", "optax", "numpy")


def kept(
    descriptions: list[dict], code: tuple[str, ...], compute: Callable[[dict[int, Path], Path], None]
) -> list[Path]:
    """The folders that `compute` filled for these descriptions, now or in earlier processes.

    `code` names the modules, files or folders below src/, that the results depend on. `compute` gets a folder for
    the number of each description that has none yet, all at once, and one for its progress: it finds in them what an
    earlier process that was stopped has left. Each appears whole or not at all.
    """
    entries = entries_of(descriptions, code)
    work = TRAINING / key_of([entry.name for entry in entries])
    for entry in entries:
        _discard_damaged(entry)
    if not all(entry.exists() for entry in entries):
        with alone(work / "lock", "these runs"):
            missing = {i: work / str(i) for i, entry in enumerate(entries) if not entry.exists()}
            _fill(missing, work, compute)
            for i, folder in missing.items():
                _move(folder, entries[i])
    shutil.rmtree(work, ignore_errors=True)
    return entries


def entries_of(descriptions: list[dict], code: tuple[str, ...]) -> list[Path]:
    """The folder for each description, whether it is there or not."""
    found = {"code": code_digest(code), "libraries": versions(LIBRARIES)}
    return [SCRATCH / key_of({"description": description, **found}) for description in descriptions]


def kept_rows(
    descriptions: list[dict], code: tuple[str, ...], compute: Callable[[list[int]], Iterable[Any]]
) -> list[Any]:
    """`kept` for plain values, one for each description; `compute` gets the numbers of the values that are missing."""

    def fill(folders: dict[int, Path], progress: Path) -> None:
        for folder, rows in zip(folders.values(), compute(list(folders)), strict=True):
            (folder / ROWS).write_text(json.dumps(rows))

    return [json.loads((folder / ROWS).read_text()) for folder in kept(descriptions, code, fill)]


def kept_tables(
    description: dict, code: tuple[str, ...], compute: Callable[[], Mapping[str, pd.DataFrame]]
) -> dict[str, pd.DataFrame]:
    """`kept` for the tables of one description."""

    def fill(folders: dict[int, Path], progress: Path) -> None:
        for name, table in compute().items():
            table.to_csv(folders[0] / f"{name}.csv", index=False, float_format=FLOATS)

    (folder,) = kept([description], code, fill)
    return {file.stem: pd.read_csv(file) for file in folder.glob("*.csv")}


def joined(answers: Sequence[Mapping[str, pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """The tables of all answers, one below the other."""
    return {name: pd.concat([answer[name] for answer in answers]) for name in answers[0]}


def _fill(folders: dict[int, Path], work: Path, compute: Callable[[dict[int, Path], Path], None]) -> None:
    """Unless they are full already: then a process was stopped while it moved them."""
    full, progress = work / "full", work / f"progress-{key_of(list(folders))}"
    if not folders or full.exists():
        return
    for folder in (*folders.values(), progress):
        folder.mkdir(exist_ok=True)
    compute(folders, progress)
    for folder in folders.values():
        (folder / DIGESTS).write_text(json.dumps(_digests(folder)))
    durable(*(file for folder in folders.values() for file in folder.iterdir()))
    full.touch()


def _move(folder: Path, entry: Path) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.replace(folder, entry)
    except OSError:
        if not entry.exists():  # else another process has finished the same run first
            raise


def _discard_damaged(entry: Path) -> None:
    """Remove an entry whose files are not as they were written, and say so."""
    if not entry.exists():
        return
    try:
        known = json.loads((entry / DIGESTS).read_text())
    except (OSError, ValueError):  # it is gone, or damaged itself
        known = {DIGESTS: ""}
    found = _digests(entry)
    if damaged := sorted(name for name in known.keys() | found.keys() if known.get(name) != found.get(name)):
        print(f"warning: {entry / damaged[0]} has changed since it was kept: it is computed again", file=sys.stderr)
        shutil.rmtree(entry)


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: digest(path) for path in folder.iterdir() if path.name != DIGESTS}


def key_of(described: object) -> str:
    """What tells plain values from others."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]


@cache
def code_digest(code: tuple[str, ...]) -> str:
    """SHA-256 of files and folders below `src`."""
    found = hashlib.sha256()
    for name in code:
        path = SOURCE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(file.read_bytes())
    return found.hexdigest()


@cache
def versions(libraries: tuple[str, ...]) -> dict[str, str]:
    """What is installed of them."""
    return {name: version(name) for name in libraries}
