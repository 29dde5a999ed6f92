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


def kept(description: dict, code: tuple[str, ...], compute: Callable[[Path], None]) -> Path:
    """The folder that `compute` filled for this description, now or in an earlier process.

    `code` names the modules of this package, files or folders, that the result depends on. The folder appears
    whole or not at all.
    """
    key = {"description": description, "code": _code_digest(code), "libraries": _versions()}
    entry = SCRATCH / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]
    if entry.exists():
        return entry
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=SCRATCH, prefix="unfinished-"))
    try:
        compute(unfinished)
        os.replace(unfinished, entry)
    except OSError:
        if not entry.exists():  # else another process has finished the same run first
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return entry


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
