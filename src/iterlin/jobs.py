"""Cells side by side on one machine. DVC runs one stage after another; several of it at once wait for its lock."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from iterlin.config import Scale
from iterlin.memory import limit_workers
from iterlin.plan import cells_of, changed_stages
from iterlin.runtime import num_workers


def reproduce(scale: Scale) -> list[str]:
    """Bring all results up to date; the stages that ran.

    `JOBS` cells run at once, by default as many as there are processors for, and share these. No byte depends on it.

    **Raises**: `SystemExit` if `JOBS` is no such number, or if a stage fails; the other cells end first, and are kept.
    """
    ran: list[str] = []
    if changed_stages():
        ran += _dvc("repro", f"regime@{scale.name}")  # all that cells read
        limit_workers(scale)
        workers = num_workers(scale.threads)
        changed = changed_stages()
        cells = [cell for cell in cells_of(scale) if cell in changed]  # none reads what another writes
        jobs = min(len(cells), _jobs(workers))
        if jobs > 1:
            ran += _side_by_side(cells[::-1], jobs, max(1, workers // jobs))  # the last are the longest
    return ran + _dvc("repro")


def _jobs(default: int) -> int:
    said = os.environ.get("JOBS", str(default))
    if not (said.isdecimal() and int(said)):
        sys.exit(f"JOBS must be a whole number of at least 1, got {said!r}")
    return int(said)


def _dvc(*arguments: str) -> list[str]:
    """Run DVC, whose output is seen as it comes; the stages that ran."""
    with subprocess.Popen(["dvc", *arguments], stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdout is not None
        ran = list(_running(process.stdout))
    if process.returncode:
        sys.exit(process.returncode)
    return ran


def _running(lines) -> Iterator[str]:
    for line in lines:
        print(line, end="", flush=True)
        if line.startswith("Running stage '"):
            yield line.split("'")[1]


def _side_by_side(cells: Sequence[str], jobs: int, workers: int) -> list[str]:
    env = os.environ | {"ITERLIN_WORKERS": str(workers)}
    print(f"{len(cells)} cells, {jobs} at once", flush=True)

    def run(cell: str) -> tuple[subprocess.CompletedProcess, float]:
        start, command = time.monotonic(), ["dvc", "--wait-for-lock", "repro", "--single-item", cell]
        return subprocess.run(command, env=env, capture_output=True, text=True), time.monotonic() - start

    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(run, cell): cell for cell in cells}
        try:
            ran, failed = _report(futures)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if failed:
        sys.exit(f"{', '.join(failed)} failed; the other cells are kept. Run the same command again once it is mended")
    return ran


def _report(futures: dict[Future, str]) -> tuple[list[str], list[str]]:
    """The cells that ran and those that failed, of which all that was written is shown."""
    ran, failed = [], []
    for future in as_completed(futures):
        cell, (done, seconds) = futures[future], future.result()
        if done.returncode:
            print(f"{cell}: failed\n{done.stdout}{done.stderr}", file=sys.stderr, flush=True)
            failed.append(cell)
        elif "Running stage" in done.stdout:
            print(f"Running stage '{cell}': {seconds:.0f} s", flush=True)
            ran.append(cell)
    return ran, failed
