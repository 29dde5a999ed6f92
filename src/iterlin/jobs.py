"""Cells side by side on one machine. DVC runs one stage after another; several of it at once wait for its lock."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, NamedTuple

from iterlin.config import Scale
from iterlin.experiments.registry import LECTURE
from iterlin.memory import limit_workers
from iterlin.plan import cells_of, changed_stages
from iterlin.runtime import num_workers, whole_number

_RUNNING: set[subprocess.Popen[str]] = set()


class Done(NamedTuple):
    """A cell that DVC has run: its exit status, what was printed, and the seconds that it took."""

    returncode: int
    output: str
    seconds: float


def reproduce(scale: Scale) -> list[str]:
    """Bring all results up to date; the stages that ran.

    `JOBS` cells run at once, by default as many as there are processors for, and share these. No byte depends on it.

    **Raises**: `SystemExit` if `JOBS` is no such number, or if a stage fails; the other cells end first, and are kept.
    """
    if not changed_stages():
        return []
    ran = _dvc("repro", f"regime@{scale.name}", f"prepare_mnist@{scale.name}")  # all that cells read
    if changed := changed_stages():
        limit_workers(scale)
        workers = num_workers(scale.threads)
        independent = [*cells_of(scale), *(f"{stage}@{scale.name}" for stage in LECTURE)]  # of what others write
        cells = [cell for cell in independent if cell in changed]
        jobs = min(len(cells), whole_number("JOBS", workers))
        if jobs > 1:
            ran += _side_by_side(cells[::-1], jobs, max(1, workers // jobs))  # the last are the longest
    return ran + _dvc("repro")


def _dvc(*arguments: str) -> list[str]:
    """Run DVC, whose output is seen as it comes; the stages that ran."""
    with _started("dvc", *arguments, bufsize=1) as process:
        assert process.stdout is not None
        ran = list(_running(process.stdout))
    if process.returncode:
        sys.exit(process.returncode)
    return ran


@contextmanager
def _started(*command: str, **settings: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings) as process:
        _RUNNING.add(process)
        yield process
    _RUNNING.remove(process)


def stop() -> None:
    """End every DVC that runs for us. Its stage ends with it (`iterlin.endings`)."""
    for process in list(_RUNNING):
        process.terminate()


def _running(lines) -> Iterator[str]:
    for line in lines:
        print(line, end="", flush=True)
        if line.startswith("Running stage '"):
            yield line.split("'")[1]


def _side_by_side(cells: Sequence[str], jobs: int, workers: int) -> list[str]:
    env = os.environ | {"ITERLIN_WORKERS": str(workers)}
    print(f"{len(cells)} cells, {jobs} at once", flush=True)

    def run(cell: str) -> Done:
        start, command = time.monotonic(), ("dvc", "--wait-for-lock", "repro", "--single-item", cell)
        with _started(*command, env=env, stderr=subprocess.STDOUT) as process:
            output, _ = process.communicate()
        return Done(process.returncode, output, time.monotonic() - start)

    with ThreadPoolExecutor(jobs) as pool:
        ran, failed = _report({pool.submit(run, cell): cell for cell in cells})
    if failed:
        sys.exit(f"{', '.join(failed)} failed; the other cells are kept. Run the same command again once it is mended")
    return ran


def _report(futures: dict[Future[Done], str]) -> tuple[list[str], list[str]]:
    """The cells that ran and those that failed, of which all that was written is shown."""
    ran, failed = [], []
    for future in as_completed(futures):
        cell, done = futures[future], future.result()
        if done.returncode:
            print(f"{cell}: failed\n{done.output}", file=sys.stderr, flush=True)
            failed.append(cell)
        elif "Running stage" in done.output:
            print(f"Running stage '{cell}': {done.seconds:.0f} s", flush=True)
            ran.append(cell)
    return ran, failed
