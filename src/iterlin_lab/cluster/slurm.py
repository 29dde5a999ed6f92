"""What is asked of SLURM, by its own commands."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FIELDS = "%k|%K|%T|%N|%M"  # the comment, the number in the array, the state, the nodes, and for how long it has run


class Job(NamedTuple):
    """A task of an array that SLURM knows: the folder of the array, its number in it, and where it is."""

    folder: Path
    number: int
    state: str
    node: str
    time: str


def require_slurm() -> None:
    """**Raises**: `SystemExit` with one line where there is no SLURM."""
    if shutil.which("sbatch") is None:
        sys.exit("There is no SLURM here (no sbatch): `make repro` trains everything on this machine")


def largest_array() -> int:
    """How many tasks the site allows in one array."""
    found = re.search(r"MaxArraySize\s*=\s*(\d+)", _asked("scontrol", "show", "config"))
    return int(found[1]) - 1 if found else 1000


def submit(script: Path, after: Sequence[str] = ()) -> str:
    """The number of the job that runs the script once these have ended, in whatever way."""
    wait = [f"--dependency=afterany:{':'.join(after)}"] if after else []
    return _asked("sbatch", "--parsable", *wait, str(script)).strip().split(";")[0]


def jobs() -> list[Job]:
    """What of our arrays waits or runs; none, and a warning, where SLURM does not answer."""
    if shutil.which("squeue") is None:
        return []
    done = _run("squeue", "--me", "--noheader", "--array", f"--format={FIELDS}")
    if done.returncode:
        print(f"warning: {_why(done)}: what waits or runs is not known", file=sys.stderr)
        return []
    rows = [line.split("|") for line in done.stdout.splitlines()]
    return [Job(Path(folder), int(number), *rest) for folder, number, *rest in rows if number.isdecimal()]


def _asked(*command: str) -> str:
    done = _run(*command)
    if done.returncode:
        sys.exit(_why(done))
    return done.stdout


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True)


def _why(done: subprocess.CompletedProcess[str]) -> str:
    """In one line."""
    *_, last = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
    return last if last.startswith(done.args[0]) else f"{done.args[0]}: {last}"
