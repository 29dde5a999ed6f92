"""Stages side by side on one machine. DVC runs one stage after another; several of it at once wait for its lock."""

import re
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from iterlin_lab.dvc.asked import Asked, Done
from iterlin_lab.dvc.damaged import name_edited
from iterlin_lab.dvc.forks import Forks
from iterlin_lab.dvc.others import wait_for_others
from iterlin_lab.dvc.status import locked_outs, status
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.workers import SLOTS, num_workers, whole_number
from iterlin_lab.settings.shared import Shared

if TYPE_CHECKING:
    from iterlin_lab.dvc.progress import Progress

PIPELINE_LOCK = Path(".cache/repro.lock")  # held by whoever brings results up to date
PROCESSORS = Path(".cache/processors")  # a lock for each: a stage takes what no other one has at the moment
LOOK = 2.0  # seconds between two looks at what the stages train
Reads = dict[str, set[str]]  # the stages, and those that each of them reads from


def reproduce(scale: Shared, targets: Sequence[str] = ()) -> list[str]:
    """Bring all results up to date, or the targets with all that they need; the stages that ran.

    `JOBS` stages run at once, by default as many as there are processors for, and share these. No byte depends on it.

    **Raises**: `SystemExit` if `JOBS` is no such number, or if a stage fails; the others end first, and are kept.
    """
    wait_for_others()
    with Forks() as forks, Asked(forks) as dvc:
        name_edited(found := status(dvc))
        if not (changed := set(found)):
            return []
        forks.start()
        with ThreadPoolExecutor(1) as beside:
            drawn = beside.submit(_graph, dvc)
            ran = _first(dvc, first := f"check@{scale.name}", changed)
        limit_workers(scale)
        workers = num_workers(scale.threads)
        jobs = whole_number("JOBS", workers)
        if reads := _affected(drawn.result(), changed, first, targets):
            ran += _side_by_side(dvc, reads, jobs, workers, scale)
    return ran


def _first(dvc: Asked, stage: str, changed: set[str]) -> list[str]:
    """Bring the stage up to date that tells how much memory a run needs, and name it if it ran.

    It stays in `changed` only if its outputs are others now: all others read them, and any edit of params.yaml runs it.
    """
    if stage not in changed:
        return []
    before = locked_outs().get(stage)
    _report(stage, done := _run(dvc, stage), "")
    if done.returncode:
        sys.exit(done.returncode)
    if locked_outs().get(stage) == before:
        changed.remove(stage)
    return [stage] if done.ran else []


def _graph(dvc: Asked) -> Reads:
    """All stages, and what each of them reads from.

    **Raises**: `SystemExit` with DVC's own words if it cannot tell.
    """
    drawn = dvc("dag", "--dot")
    if drawn.returncode:
        sys.exit(drawn.output.strip())
    reads = {stage: set() for stage in re.findall(r'^"([^"]+)";$', drawn.output, re.MULTILINE)}
    for source, stage in re.findall(r'^"([^"]+)" -> "([^"]+)";$', drawn.output, re.MULTILINE):
        reads[stage].add(source)
    return reads


def _affected(reads: Reads, changed: set[str], done: str, targets: Sequence[str]) -> Reads:
    """Of these the stages that have changed or may yet, but for one that is done.

    If there are targets, only these and what they depend on.
    """
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


def _side_by_side(dvc: Asked, reads: Reads, jobs: int, workers: int, scale: Shared) -> list[str]:
    """Run each stage as soon as all that it reads from is there; first those for which most others wait."""
    print(f"{len(reads)} stages, {jobs} at once", flush=True)
    waiting = _waiting(reads)
    last_first = list(reads)[::-1]  # of dvc.yaml, where experiments that take long come last
    stages = sorted(last_first, key=lambda stage: -len(waiting[stage]))
    sorter: TopologicalSorter[str] = TopologicalSorter(reads)
    sorter.prepare()
    ready, running, ran, failed, ended = [], {}, [], [], []
    progress = _progress(scale, reads)
    shared = {"ITERLIN_WORKERS": str(workers), SLOTS: str(PROCESSORS.resolve())}
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            ready = sorted([*ready, *sorter.get_ready()], key=stages.index)
            while ready and len(running) < jobs:
                stage = ready.pop(0)
                running[pool.submit(_run, dvc, stage, **shared)] = stage
            if not running:
                break
            if progress:
                progress.show(running.values(), ended)
            for future in wait(running, LOOK if progress else None, FIRST_COMPLETED).done:
                stage, done = running.pop(future), future.result()
                ended.append(stage)
                if progress:
                    progress.clear()
                _report(stage, done, f"[{len(ended)}/{len(reads)}] ")
                if done.returncode:
                    failed.append(stage)
                    continue
                sorter.done(stage)
                if done.ran:
                    ran.append(stage)
    if failed:
        sys.exit(f"{', '.join(failed)} failed; the others are kept. Run the same command again once it is mended")
    return ran


def _progress(scale: Shared, reads: Reads) -> "Progress | None":
    """The line about these stages, where there is a terminal to show it."""
    if not sys.stderr.isatty():
        return None
    from iterlin_lab.dvc.progress import Progress  # pandas is slow to import

    return Progress(scale, reads)


def _waiting(reads: Reads) -> Reads:
    """All that depends on each stage, directly or not."""
    waiting = {stage: set() for stage in reads}
    for stage in reversed([*TopologicalSorter(reads).static_order()]):
        for source in reads[stage]:
            waiting[source] |= {stage} | waiting[stage]
    return waiting


def _run(dvc: Asked, stage: str, **env: str) -> Done:
    return dvc("repro", "--single-item", stage, **env)


def _report(stage: str, done: Done, place: str) -> None:
    """Its place among all, how long it took and what it warns of; if it has failed, all that was written."""
    if done.returncode:
        print(f"{place}{stage}: failed\n{done.output}", file=sys.stderr, flush=True)
        return
    if done.ran:
        print(f"{place}Running stage '{stage}': {done.seconds:.0f} s", flush=True)
    for line in done.output.splitlines():
        if line.startswith("warning: "):
            print(line, file=sys.stderr, flush=True)
