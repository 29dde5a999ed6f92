"""What DVC says of the pipeline, and what its `dvc.lock` has."""

import fcntl
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from iterlin_lab.dvc.asked import Asked
from iterlin_lab.dvc.cut_off import LOCK_FILE, OUTS, REPO_LOCK, entries, joined

PARAMS = Path("params.yaml")


def status(dvc: Asked) -> dict[str, list[Any]]:
    """The stages that are not up to date, as `dvc status` has them.

    **Raises**: `SystemExit` with DVC's own words if it cannot tell, and with git's where this is no repository.
    """
    _require_repository()
    done = dvc("status", "--json")
    if done.returncode:
        sys.exit(done.output.strip())
    return json.loads(done.output[done.output.index("{") :])  # after what it may warn of


def _require_repository() -> None:
    try:
        done = subprocess.run(["git", "rev-parse"], capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit("DVC needs git, which is not installed here")
    if done.returncode:
        said = " ".join(done.stderr.split()).removeprefix("fatal: ")
        sys.exit(f"DVC needs a git repository in this folder, which `git init` makes of an archive; git says: {said}")


def locked_outs() -> dict[str, str]:
    """What tells the outputs of each stage in `dvc.lock` from others."""
    return {name: " ".join(out["md5"] for out in stage["outs"]) for name, stage in _locked().items()}


def locked_paths() -> list[Path]:
    """Where the outputs lie of all stages in `dvc.lock`, also of stages that there are no more."""
    return [Path(out["path"]) for stage in _locked().values() for out in stage["outs"]]


def _locked() -> dict[str, Any]:
    """The outputs of the stages in `dvc.lock`, read while no DVC writes that file.

    They are a tenth of what each entry has, and come last in it: all of it takes ten times as long to parse.
    """
    if not LOCK_FILE.exists():
        return {}
    with REPO_LOCK.open() if REPO_LOCK.exists() else nullcontext() as file:
        if file:
            fcntl.flock(file, fcntl.LOCK_SH)
        found = entries(LOCK_FILE.read_text())
    outs = {name: f"{name}{OUTS}{entry.rpartition(OUTS)[2]}" for name, entry in found.items()}
    return YAML(typ="safe").load(joined(outs))["stages"] if outs else {}


def ran_before(name: str, params: Path = PARAMS) -> bool:
    """Whether `dvc.lock` has a report of this scale that was made with the very parameters of now."""
    if not LOCK_FILE.exists():
        return False
    read = YAML(typ="safe").load
    report = read(LOCK_FILE)["stages"].get(f"report@{name}", {})
    return report.get("params", {}).get(str(params), {}).get("scale") == read(params)["scale"]
