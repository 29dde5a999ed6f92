"""Arrays of jobs: a folder each, with the tasks and settings by value, the script, and what jobs have written."""

import json
import math
import platform
import shlex
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.cluster.settings import Resources
from iterlin_lab.cluster.tasks import Task
from iterlin_lab.files import whole_folder
from iterlin_lab.runs.store import LIBRARIES, key_of, versions
from iterlin_lab.runs.workers import PROCESSES

ARRAYS = Path(".cache/cluster")
TASKS, SCRIPT = "tasks.json", "job.sh"
LOG, ENDED, REASON = "{}.log", "ended-{}", "failed-{}.txt"  # of a job, by its number
LOG_THERE = "/tmp/iterlin-{}-{}.log"  # on a node that shares nothing, by the numbers of the array and of the job
NOTICE = 120  # seconds before its time is up in which a job is put back into the queue

SCRIPT_TEXT = """#!/bin/bash
{options}
{modules}{visit}# What ends before its time is put back into the queue, and goes on from its last checkpoint.
trap '{stop}; wait $!; scontrol requeue "$SLURM_JOB_ID"' USR1
trap 'wait $!' TERM
{command} &
until wait $!; do
  code=$?
  [ $code -gt 128 ] && kill -0 $! 2> /dev/null || exit $code  # a signal has interrupted the waiting alone
done
"""

NODE_TEXT = '{python} -m iterlin_lab.cluster.node {folder} "$SLURM_ARRAY_TASK_ID"'
VISIT_TEXT = """visit() {{
  clone=$(mktemp -d) && cd "$clone" || exit 1
  {{ git clone --quiet {address} . && git checkout --quiet {commit}; }} || {{ rm -rf "$clone"; exit 1; }}
  export PYTHONPATH=$clone/src
  exec {python} -m iterlin_lab.cluster.visit {remote} {folder} "$SLURM_ARRAY_TASK_ID" "$clone"
}}
export -f visit
"""


class Array(NamedTuple):
    """Tasks that ask for the same."""

    folder: Path
    tasks: list[Task]
    resources: Resources


class Source(NamedTuple):
    """What a node that shares nothing clones, and the remote of DVC that it has in common with the head."""

    address: str
    commit: str
    remote: str


def write(array: Array, scale: Any, source: Source | None = None) -> Path:
    """Write the folder; its script."""
    with whole_folder(array.folder) as folder:
        content = {
            "scale": scale.model_dump(mode="json"), "libraries": versions(LIBRARIES), "tasks": array.tasks,
        }  # fmt: skip
        (folder / TASKS).write_text(json.dumps(content))
        (folder / SCRIPT).write_text(script(array, scale, source))
    return array.folder / SCRIPT


def place_of(array: Path) -> str:
    """A name for an array that no other head has."""
    return key_of([platform.node(), str(array.resolve())])


def script(array: Array, scale: Any, source: Source | None = None) -> str:
    """What sbatch runs, on nodes that share this folder, or that clone the source."""
    asked, folder = array.resources, array.folder.resolve()
    options = {
        "job-name": f"iterlin-{scale.name}",
        "comment": folder,
        "chdir": "/tmp" if source else Path.cwd(),
        "array": f"0-{len(array.tasks) - 1}",
        "output": LOG_THERE.format("%A", "%a") if source else folder / LOG.format("%a"),
        "open-mode": "append",
        "signal": f"B:USR1@{NOTICE}",
        "ntasks": asked.processes,
        "cpus-per-task": asked.processors,
        "gpus": asked.gpus,
        "time": asked.time,
        "mem": asked.memory,
        "partition": asked.partition,
        "account": asked.account,
    }
    lines = [f"--{name}={shlex.quote(str(value))}" for name, value in options.items() if value is not None]
    python = f"{asked.container or ''} {asked.python or sys.executable}".strip()
    command = "visit" if source else NODE_TEXT.format(python=python, folder=shlex.quote(str(folder)))
    stop = "kill $!"
    if asked.processes > 1:
        stop = 'scancel --signal=TERM "$SLURM_JOB_ID"'  # srun itself would leave them no time to send anything
        together = f"{PROCESSES}={asked.processes} srun --kill-on-bad-exit=1 --cpus-per-task={asked.processors}"
        command = f"{together} {'bash -c visit' if source else command}"
    return SCRIPT_TEXT.format(
        options="\n".join(f"#SBATCH {line}" for line in ["--requeue", *lines, *asked.options]),
        modules="".join(f"module load {shlex.quote(name)}\n" for name in asked.modules),
        visit=_visit(source, python, ARRAYS / place_of(folder)) if source else "",
        stop=stop,
        command=command,
    )


def _visit(source: Source, python: str, there: Path) -> str:
    return VISIT_TEXT.format(
        address=shlex.quote(source.address),
        commit=source.commit,
        remote=shlex.quote(source.remote),
        python=python,
        folder=there,
    )


def read(folder: Path) -> tuple[Any, list[Task]]:
    """The settings, as plain values, and the tasks of an array."""
    content = json.loads((folder / TASKS).read_text())
    return content["scale"], [Task(*task) for task in content["tasks"]]


def require_libraries(folder: Path) -> None:
    """The head finds results only of the libraries that it has itself.

    **Raises**: `SystemExit` with one line where others are installed.
    """
    wanted, here = json.loads((folder / TASKS).read_text())["libraries"], versions(LIBRARIES)
    for name in LIBRARIES:
        if here[name] != wanted[name]:
            sys.exit(f"{name} is {here[name]} here, and {wanted[name]} at the head: set `python` or `container`")


def arrays() -> Iterator[tuple[Path, list[Task]]]:
    """All that were submitted here and are not finished, with some that are; the newest first."""
    for folder in sorted(ARRAYS.resolve().glob("[0-9]*"), reverse=True):
        yield folder, read(folder)[1]


def next_folders() -> Iterator[Path]:
    """Names for new ones."""
    last = max((int(folder.name) for folder in ARRAYS.glob("[0-9]*")), default=0)
    return (ARRAYS / f"{number:06d}" for number in count(last + 1))


def clock(hours: float) -> str:
    """Hours as SLURM writes a time limit."""
    minutes = math.ceil(60 * hours)
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"
