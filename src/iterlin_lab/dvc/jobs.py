"""Stages side by side on one machine. DVC runs one stage after another; several of it at once wait for its lock."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from iterlin_lab.dvc import attached
from iterlin_lab.dvc.others import wait_for_others
from iterlin_lab.planning.plan import changed_stages
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.workers import num_workers, whole_number
from iterlin_lab.settings.shared import Shared

Reads = dict[str, set[str]]  # the stages, and those that each of them reads from
_RUNNING: set[subprocess.Popen[str]] = set()


class Done(NamedTuple):
    """A stage that DVC was asked for: its exit status, what was printed, and the seconds that it took."""

    returncode: int
    output: str
    seconds: float

    @property
    def ran(self) -> bool:
        """Whether it had to run."""
        return "Running stage" in self.output


def reproduce(scale: Shared, targets: Sequence[str] = ()) -> list[str]:
    """Bring all results up to date, or the targets with all that they need; the stages that ran.

    `JOBS` stages run at once, by default as many as there are processors for, and share these. No byte depends on it.

    **Raises**: `SystemExit` if `JOBS` is no such number, or if a stage fails; the others end first, and are kept.
    """
    wait_for_others()
    if not (changed := changed_stages()):
        return []
    first = f"check@{scale.name}"  # after which it is known how much memory a run needs
    ran = _dvc("repro", first)
    limit_workers(scale)
    workers = num_workers(scale.threads)
    jobs = whole_number("JOBS", workers)
    if jobs == 1:
        return ran + _dvc("repro", *targets)
    return ran + _side_by_side(_affected(changed, first, targets), jobs, workers)


def _affected(changed: list[str], done: str, targets: Sequence[str]) -> Reads:
    """The stages that have changed or may yet, but for one that is done, and what each of them reads from.

    If there are targets, only these and what they depend on.
    """
    drawn = subprocess.run(
        ["dvc", "--wait-for-lock", "dag", "--dot"], capture_output=True, text=True, check=True
    ).stdout
    reads = {stage: set() for stage in re.findall(r'^"([^"]+)";$', drawn, re.MULTILINE)}
    for source, stage in re.findall(r'^"([^"]+)" -> "([^"]+)";$', drawn, re.MULTILINE):
        reads[stage].add(source)
    affected = set(changed)
    for stage in TopologicalSorter(reads).static_order():
        if reads[stage] & affected:
            affected.add(stage)
    affected.discard(done)
    if targets:
        affected &= _needed(reads, targets)
    return {stage: sources & affected for stage, sources in reads.items() if stage in affected}


def _needed(reads: Reads, targets: Sequence[str]) -> set[str]:
    """The targets, and all that they depend on."""
    found, left = set(), list(targets)
    while left:
        if (stage := left.pop()) not in found:
            found.add(stage)
            left += reads[stage]
    return found


def _dvc(*arguments: str) -> list[str]:
    """Run DVC, whose output is seen as it comes; the stages that ran."""
    with _started(*arguments, bufsize=1) as process:
        assert process.stdout is not None
        ran = list(_running(process.stdout))
    if process.returncode:
        sys.exit(process.returncode)
    return ran


@contextmanager
def _started(*arguments: str, **settings: Any) -> Iterator[subprocess.Popen[str]]:
    """A DVC that ends with this process."""
    command = (sys.executable, "-m", attached.__name__, *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings) as process:
        _RUNNING.add(process)
        yield process
    _RUNNING.remove(process)


def stop() -> None:
    """End every DVC that runs for us. Its stage ends with it (`iterlin_lab.runs.stopping`)."""
    for process in list(_RUNNING):
        process.terminate()


def _running(lines) -> Iterator[str]:
    for line in lines:
        print(line, end="", flush=True)
        if line.startswith("Running stage '"):
            yield line.split("'")[1]


def _side_by_side(reads: Reads, jobs: int, workers: int) -> list[str]:
    """Run each stage as soon as all that it reads from is there; first those for which most others wait."""
    print(f"{len(reads)} stages, {jobs} at once", flush=True)
    waiting = _waiting(reads)
    last_first = list(reads)[::-1]  # of dvc.yaml, where experiments that take long come last
    stages = sorted(last_first, key=lambda stage: -len(waiting[stage]))
    sorter: TopologicalSorter[str] = TopologicalSorter(reads)
    sorter.prepare()
    ready, running, ran, failed = [], {}, [], []
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            ready = sorted([*ready, *sorter.get_ready()], key=stages.index)
            while ready and len(running) < jobs:
                share = max(1, workers // min(jobs, len(ready) + len(running)))
                stage = ready.pop(0)
                running[pool.submit(_run, stage, share)] = stage
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                stage, done = running.pop(future), future.result()
                _report(stage, done)
                if done.returncode:
                    failed.append(stage)
                    continue
                sorter.done(stage)
                if done.ran:
                    ran.append(stage)
    if failed:
        sys.exit(f"{', '.join(failed)} failed; the others are kept. Run the same command again once it is mended")
    return ran


def _waiting(reads: Reads) -> Reads:
    """All that depends on each stage, directly or not."""
    waiting = {stage: set() for stage in reads}
    for stage in reversed([*TopologicalSorter(reads).static_order()]):
        for source in reads[stage]:
            waiting[source] |= {stage} | waiting[stage]
    return waiting


def _run(stage: str, workers: int) -> Done:
    env = os.environ | {"ITERLIN_WORKERS": str(workers)}
    start, arguments = time.monotonic(), ("--wait-for-lock", "repro", "--single-item", stage)
    with _started(*arguments, env=env, stderr=subprocess.STDOUT) as process:
        output, _ = process.communicate()
    return Done(process.returncode, output, time.monotonic() - start)


def _report(stage: str, done: Done) -> None:
    """How long the stage took and what it warns of; if it has failed, all that was written."""
    if done.returncode:
        print(f"{stage}: failed\n{done.output}", file=sys.stderr, flush=True)
        return
    if done.ran:
        print(f"Running stage '{stage}': {done.seconds:.0f} s", flush=True)
    for line in done.output.splitlines():
        if line.startswith("warning: "):
            print(line, file=sys.stderr, flush=True)
