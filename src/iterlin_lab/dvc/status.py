"""What DVC says of the pipeline, and how its own files are put in order after it was killed while it wrote them.

It writes `dvc.lock` and its list of locks in place. Cut off, they keep it from starting.
"""

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from iterlin_lab.files import write_bytes

LOCK_FILE = Path("dvc.lock")
PARAMS = Path("params.yaml")
REPO_LOCK, LOCKS = Path(".dvc/tmp/lock"), Path(".dvc/tmp/rwlock")


def status() -> dict[str, list[Any]]:
    """The stages that are not up to date, as `dvc status` has them.

    **Raises**: `SystemExit` with DVC's own words if it cannot tell.
    """
    done = _status()
    with _no_dvc_at_work() as alone:
        if alone and not _is_json(LOCKS):
            LOCKS.unlink()
            _say(f"{LOCKS} had been cut off, so it was removed")
    if done.returncode and LOCK_FILE.exists():
        done = _with_the_committed_lock_file(done)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout or "{}")


def _status() -> subprocess.CompletedProcess[str]:
    return subprocess.run(["dvc", "--wait-for-lock", "status", "--json"], capture_output=True, text=True)


def _with_the_committed_lock_file(failed: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """What has run since that commit is in DVC's run cache, from where it comes back untrained."""
    content = LOCK_FILE.read_bytes()
    committed = subprocess.run(["git", "show", f"HEAD:./{LOCK_FILE}"], capture_output=True)
    if committed.returncode == 0:
        write_bytes(LOCK_FILE, committed.stdout)
    else:
        LOCK_FILE.unlink()
    if (done := _status()).returncode:
        write_bytes(LOCK_FILE, content)
        return failed
    _say(f"DVC could not read {LOCK_FILE}, which had been cut off, so it is that of the last commit again")
    return done


@contextmanager
def _no_dvc_at_work() -> Iterator[bool]:
    """Whether no DVC changes anything in this folder, and keep it so."""
    if not REPO_LOCK.exists():
        yield False
        return
    with REPO_LOCK.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False


def locked_outs() -> dict[str, str]:
    """What tells the outputs of each stage in `dvc.lock` from others, read while no DVC writes that file."""
    with REPO_LOCK.open() if REPO_LOCK.exists() else nullcontext() as file:
        if file:
            fcntl.flock(file, fcntl.LOCK_SH)
        stages = YAML(typ="safe").load(LOCK_FILE)["stages"]
    return {name: " ".join(out["md5"] for out in stage["outs"]) for name, stage in stages.items()}


def ran_before(name: str, params: Path = PARAMS) -> bool:
    """Whether `dvc.lock` has a report of this scale that was made with the very parameters of now."""
    if not LOCK_FILE.exists():
        return False
    read = YAML(typ="safe").load
    report = read(LOCK_FILE)["stages"].get(f"report@{name}", {})
    return report.get("params", {}).get(str(params), {}).get("scale") == read(params)["scale"]


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text() if path.exists() else "{}")
    except ValueError:
        return False
    return True


def _say(text: str) -> None:
    print(f"mended: {text}. Nothing that was trained is lost", file=sys.stderr, flush=True)
