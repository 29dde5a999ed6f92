"""Finished runs, kept outside DVC, so that a stage which starts again repeats none of them.

An entry is a folder named by the digest of everything that the run depends on: its parameters, its inputs, the code
and the versions of the libraries that it runs.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

SCRATCH = Path(".cache/runs")
PACKAGE = Path(__file__).parent
LIBRARIES = ("jax", "jaxlib", "equinox", "optax", "numpy")


def kept(descriptions: list[dict], code: tuple[str, ...], compute: Callable[[dict[int, Path]], None]) -> list[Path]:
    """The folders that `compute` filled for these descriptions, now or in earlier processes.

    `code` names the modules of this package, files or folders, that the results depend on. `compute` gets a folder for
    the number of each description that has none yet, all at once. Each appears whole or not at all.
    """
    entries = [_entry(description, code) for description in descriptions]
    missing = [i for i, entry in enumerate(entries) if not entry.exists()]
    if not missing:
        return entries
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unfinished = {i: Path(tempfile.mkdtemp(dir=SCRATCH, prefix="unfinished-")) for i in missing}
    try:
        compute(unfinished)
        for i, folder in unfinished.items():
            _move(folder, entries[i])
    finally:
        for folder in unfinished.values():
            shutil.rmtree(folder, ignore_errors=True)
    return entries


def _entry(description: dict, code: tuple[str, ...]) -> Path:
    key = {"description": description, "code": _code_digest(code), "libraries": _versions()}
    return SCRATCH / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]


def _move(folder: Path, entry: Path) -> None:
    try:
        os.replace(folder, entry)
    except OSError:
        if not entry.exists():  # else another process has finished the same run first
            raise


@cache
def _code_digest(code: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in code:
        path = PACKAGE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES}
