"""Where each task is. DVC and the store say what is finished; what SLURM says is a hint."""

import os
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.cluster.arrays import ENDED, LOG, REASON, arrays
from iterlin_lab.cluster.slurm import jobs
from iterlin_lab.cluster.tasks import Task, is_kept, tasks, waits_for
from iterlin_lab.experiments import chosen
from iterlin_lab.runs.stage import is_running

DONE, KEPT, RUNNING, WAITING, FAILED, STOPPED, OPEN, LATER = STATES = (
    "done", "kept", "running", "waiting", "failed", "stopped", "open", "later",
)  # fmt: skip
UNSUBMITTED = (FAILED, STOPPED, OPEN)

Place = tuple[Path, int]  # the folder of an array, and the number in it


class State(NamedTuple):
    """One of `STATES`, with what is to be said of it: the node and the time, or why it failed and its log."""

    name: str
    note: str = ""


def states(scale: Any, changed: set[str]) -> list[tuple[Task, State]]:
    """All tasks; `changed` are the stages that DVC would run."""
    cells = {experiment.name: experiment.trained(scale) for experiment in chosen(scale)}
    later = {experiment.name: waits_for(experiment, scale, changed) for experiment in chosen(scale)}
    known = {(job.folder, job.number): job for job in jobs()}
    places = _places(set(known))
    found = []
    for task in tasks(scale):
        place = places.get(task.key)
        job = known.get(place) if place else None
        if sources := later[task.experiment]:
            state = State(LATER, f"after {', '.join(sources)}")
        elif task.stage not in changed:
            state = State(DONE)
        elif job:
            state = State(WAITING) if job.state == "PENDING" else State(RUNNING, f"on {job.node} for {job.time}")
        elif is_kept(task, scale, cells[task.experiment]):
            state = State(KEPT)
        elif is_running(task.stage):
            state = State(RUNNING, "here")
        else:
            state = _ended(*place) if place else State(OPEN)
        found.append((task, state))
    return found


def forget_finished(found: Sequence[tuple[Task, State]]) -> None:
    """Remove the arrays whose tasks have all ended, or are finished; the newest stays, so that its number does."""
    finished = {task.key for task, state in found if state.name in (DONE, KEPT)}
    for folder, held in islice(arrays(), 1, None):
        ended = [(folder / ENDED.format(number)).exists() for number in range(len(held))]
        if all(end or task.key in finished for end, task in zip(ended, held, strict=True)):
            shutil.rmtree(folder)


def _places(known: set[Place]) -> dict[str, Place]:
    """Where each task was submitted: where SLURM has it, or else the last time."""
    places: dict[str, Place] = {}
    for folder, held in arrays():
        for number, task in enumerate(held):
            place = (folder, number)
            if place in known or task.key not in places:
                places[task.key] = place
    return places


def _ended(folder: Path, number: int) -> State:
    """Of a task that is not finished, and that SLURM does not have: by what it has left in the folder of its array.

    If it came to its end there, the code or the data are others now.
    """
    log = folder / LOG.format(number)
    if (folder / ENDED.format(number)).exists():
        return State(OPEN)
    shown = os.path.relpath(log)
    if (why := folder / REASON.format(number)).exists():
        return State(FAILED, f"{why.read_text()} ({shown})")
    return State(STOPPED, shown) if log.exists() else State(OPEN)
