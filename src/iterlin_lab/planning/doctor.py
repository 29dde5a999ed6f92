"""What this machine has of what the pipeline needs: what is wrong, and the remedy."""

import os
import re
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from iterlin_lab.layout import Layout
from iterlin_lab.mlflow.place import is_server, uri
from iterlin_lab.runs.memory import available
from iterlin_lab.runs.workers import num_workers, prepare_jax
from iterlin_lab.settings.shared import Shared

LOCK = Path("requirements.lock")
GIB = 1 << 30
ROOM = 5 * GIB  # of the disk: laptop's results, their copies in DVC's cache, and compiled programs
PATIENCE = 5  # seconds


class Finding(NamedTuple):
    """What was looked at, and what was found; `remedy` is empty where nothing is wrong."""

    subject: str
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        line = f"{'!!' if self.remedy else 'ok'}  {self.subject:<9}  {self.found}"
        return f"{line}: {self.remedy}" if self.remedy else line


def examine(scale: Shared) -> Iterator[Finding]:
    """Packages, processors and devices, memory, disk, data and MLflow, in this order."""
    yield _packages()
    yield _devices(scale)
    yield Finding("memory", f"{available() / GIB:.1f} GiB are free")
    free = shutil.disk_usage(".").free
    yield Finding(
        "disk", f"{free / GIB:.0f} GiB are free", "" if free > ROOM else f"make room for {ROOM / GIB:.0f} GiB"
    )
    yield _data(scale)
    yield _mlflow()


def _packages() -> Finding:
    """Whether the versions are those of requirements.lock, with which the committed reports were made."""
    python = f"Python {sys.version.split()[0]}"
    lines = re.findall(r"^([\w.-]+)==([\w.]+)", LOCK.read_text(), re.MULTILINE) if LOCK.exists() else []
    others = []
    for name in ("jax", "jaxlib", "equinox", "optax", "dvc", "mlflow", "pandas", "numpy"):
        try:
            found = version(name)
        except PackageNotFoundError:
            return Finding("packages", f"{python}, without {name}", "pip install -e '.[pipeline]'")
        pinned = {there for package, there in lines if package == name}  # several, for several versions of Python
        others += [f"{name} {found}"] if pinned and found not in pinned else []
    if others:
        said = f"{python}; {', '.join(others)} is not what requirements.lock has"
        return Finding("packages", said, "remove .venv and run make repro, or expect other digits")
    return Finding("packages", f"{python} and the versions of requirements.lock")


def _devices(scale: Shared) -> Finding:
    prepare_jax(scale)
    import jax

    kinds = sorted({device.device_kind for device in jax.devices()})
    said = f"{num_workers(scale.threads)} runs side by side, on {', '.join(kinds)}"
    if Path("/proc/driver/nvidia/version").exists() and jax.default_backend() == "cpu":
        return Finding("devices", f"{said}; jax does not use the GPU", "pip install -e '.[cuda12]'")
    return Finding("devices", said)


def _data(scale: Shared) -> Finding:
    """Data that ship with a package, or are there already, or are downloaded when they are asked for."""
    if scale.data.name == "digits" or Layout(scale.name).data.exists():
        return Finding("data", f"{scale.data.name} are here")
    folder = Path(os.environ.get("TFDS_DATA_DIR", "~/tensorflow_datasets")).expanduser()
    if (folder / scale.data.name).is_dir():
        return Finding("data", f"{scale.data.name} are prepared in {folder}")
    return Finding(
        "data", f"{scale.data.name} are not in {folder}", "docs/data.md says how to get them; else a download"
    )


def _mlflow() -> Finding:
    if not is_server():
        return Finding("MLflow", "keeps its runs in mlflow.db; make ui shows them")
    try:
        with urllib.request.urlopen(f"{uri().rstrip('/')}/health", timeout=PATIENCE):
            return Finding("MLflow", "the server answers")
    except (OSError, urllib.error.URLError, ValueError) as error:
        said = f"the server at MLFLOW_TRACKING_URI does not answer ({error})"
        return Finding("MLflow", said, "start it, or unset MLFLOW_TRACKING_URI; training goes on without it")
