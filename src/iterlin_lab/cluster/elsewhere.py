"""The head of nodes that share nothing with it but a remote of DVC: what it offers them, and what it gathers."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iterlin_lab.cluster.arrays import TASKS, Source, arrays, place_of
from iterlin_lab.cluster.exchange import Exchange
from iterlin_lab.cluster.settings import Cluster
from iterlin_lab.cluster.tasks import Task, kept_in, reads, tasks
from iterlin_lab.dvc.asked import Asked
from iterlin_lab.dvc.cut_off import LOCK_FILE
from iterlin_lab.experiments import chosen

CLONED = ("src", "stages", "params.yaml", "dvc.yaml", ".dvc/config")


def source_of(cluster: Cluster) -> Source | None:
    """What nodes clone; none where they share the folder.

    **Raises**: `SystemExit` with one line where the clone would not be what is here.
    """
    if cluster.remote is None:
        return None
    if changed := _git("status", "--porcelain", "--", *CLONED):
        sys.exit(f"{changed.split()[1]} is not committed, and nodes clone the last commit: commit it first")
    if f'remote "{cluster.remote}"' not in _git("show", "HEAD:.dvc/config"):
        sys.exit(f"cluster.yaml: remote: {cluster.remote!r} is not in .dvc/config, which nodes clone: `dvc remote add`")
    address, commit = cluster.source or _git("remote", "get-url", "origin"), _git("rev-parse", "HEAD")
    if commit not in _git("ls-remote", address):
        sys.exit(f"No branch of {address} is at commit {commit[:9]}, which nodes clone from there: `git push` first")
    return Source(address, commit, cluster.remote)


def offer(source: Source, array: Path, held: Sequence[Task], scale: Any) -> None:
    """Put an array, and what its tasks read, where nodes find it."""
    dvc("push", source.remote, {path for task in held for path in reads(task, scale)})
    shutil.copyfile(LOCK_FILE, array / LOCK_FILE)
    exchange, place = Exchange(source.remote), place_of(array)
    exchange.forget(place)
    for name in (LOCK_FILE, TASKS):
        exchange.send_file(array / name, f"{place}/array/{name}")


def gather(scale: Any, remote: str) -> None:
    """Copy here what jobs have trained, and how they ended."""
    exchange, cells = Exchange(remote), {experiment.name: experiment.trained(scale) for experiment in chosen(scale)}
    exchange.fetch_runs({entry for task in tasks(scale) for entry in kept_in(task, scale, cells[task.experiment])})
    for folder, _ in arrays():
        exchange.fetch(f"{place_of(folder)}/ended", folder)


def dvc(command: str, remote: str, paths: set[Path]) -> None:
    """Push or pull these outputs.

    **Raises**: `SystemExit` with the last line of what DVC says.
    """
    if not paths:
        return  # DVC takes no name for all names
    with Asked() as asked:
        done = asked(command, "--remote", remote, *sorted(map(str, paths)))
    if done.returncode:
        sys.exit(f"dvc {command}: {done.output.strip().splitlines()[-1]}")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"git {words[0]}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.strip()
