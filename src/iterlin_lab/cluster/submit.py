"""What is out of date and neither kept nor with SLURM, as arrays of jobs."""

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby, islice
from typing import Any

from iterlin_lab.cluster import slurm
from iterlin_lab.cluster.arrays import Array, Source, clock, next_folders, script, write
from iterlin_lab.cluster.elsewhere import gather, offer, source_of
from iterlin_lab.cluster.settings import Cluster, Resources
from iterlin_lab.cluster.states import UNSUBMITTED, forget_finished, states
from iterlin_lab.cluster.tasks import Task
from iterlin_lab.dvc.asked import Asked
from iterlin_lab.dvc.jobs import reproduce
from iterlin_lab.dvc.status import status
from iterlin_lab.experiments import chosen
from iterlin_lab.planning.plan import hours_by_stage, in_units, make_plan
from iterlin_lab.runs.workers import num_workers

SHARE = 1.5  # of the time that is likely by the plan, on a machine of another kind; what takes longer goes on later
UNPLANNED = 2.0  # hours
MEMORY = 2**20


def bring(scale: Any, cluster: Cluster) -> None:
    """Bring up to date what all training reads, and copy here what nodes that share no folder have trained."""
    own = [f"prepare_own@{scale.name}-{one.name}" for one in chosen(scale) if one.own_data]
    reproduce(scale, [f"prepare@{scale.name}", f"regime@{scale.name}", *own])
    if cluster.remote is not None:
        gather(scale, cluster.remote)


def changed_stages() -> set[str]:
    """The stages that DVC would run."""
    with Asked() as dvc:
        return set(status(dvc))


class Plan:
    """What a task may take, by the plan of the machine that submits it."""

    def __init__(self, scale: Any, found: Sequence[Task]):
        self._scale, self._found = scale, found
        self._here = num_workers(scale.threads)

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return make_plan(self._scale)

    @cached_property
    def hours(self) -> dict[Task, float]:
        """Of the processors of this machine, likely."""
        stages = hours_by_stage(self._rows)
        held = Counter(task.stage for task in self._found if not task.after)
        return {
            task: stages[task.stage] / held[task.stage]
            for task in self._found
            if task.stage in stages and not task.after
        }

    @cached_property
    def _memory(self) -> float:
        """Bytes of a process that trains."""
        return max((row["memory"] for row in self._rows), default=0) / self._here

    def resources(self, task: Task, asked: Resources) -> Resources:
        """What the task asks for, with the plan's numbers where the site says nothing.

        **Raises**: `SystemExit` with one line where processes cannot share out the devices or the memory of a run.
        """
        if self._scale.devices % asked.processes:
            sys.exit(
                f"cluster.yaml: processes: {asked.processes} cannot have equal shares of the {self._scale.devices} "
                "devices of a run, which scale.devices in params.yaml says"
            )
        if asked.processes > 1 and asked.memory is None:
            sys.exit(
                "cluster.yaml: memory: say how much a node has for its processes, whose number the plan does not know"
            )
        processors = asked.processors or self._scale.threads
        side_by_side = max(1, processors // self._scale.threads)
        return asked.model_copy(
            update={
                "processors": processors,
                "processes": 1 if task.number is None else asked.processes,  # tables have no examples to spread
                "time": asked.time or self._time(task, side_by_side),
                "memory": asked.memory or f"{math.ceil(side_by_side * self._memory / MEMORY)}M",
            }
        )

    def _time(self, task: Task, side_by_side: int) -> str:
        """A power of two of hours, so that few arrays differ."""
        hours = SHARE * self.hours[task] * self._here / side_by_side if task in self.hours else UNPLANNED
        return clock(2 ** math.ceil(math.log2(max(0.5, hours))))


def planned_arrays(scale: Any, cluster: Cluster, found: Sequence[Task], plan: Plan, largest: int) -> list[list[Array]]:
    """The arrays of these tasks: those that may start at once, and those that wait for them."""
    folders = next_folders()
    waves = [[task for task in found if task.after is after] for after in (False, True)]
    return [list(_arrays(wave, cluster, plan, largest, folders)) for wave in waves]


def _arrays(wave: list[Task], cluster: Cluster, plan: Plan, largest: int, folders: Iterator) -> Iterator[Array]:
    asked = {task: plan.resources(task, cluster.of(task.experiment)) for task in wave}
    alike = sorted(wave, key=lambda task: asked[task].model_dump_json())  # is stable: tasks stay in their order
    for _, group in groupby(alike, key=lambda task: asked[task].model_dump_json()):
        while held := list(islice(group, largest)):
            yield Array(next(folders), held, asked[held[0]])


def submit(scale: Any, cluster: Cluster, names: Sequence[str]) -> Iterator[str]:
    """Submit what is out of date, of these experiments or of all; says a line an array."""
    slurm.require_slurm()
    source = source_of(cluster)
    bring(scale, cluster)
    found = states(scale, changed_stages())
    forget_finished(found)
    plan = Plan(scale, [task for task, _ in found])
    first, then = planned_arrays(scale, cluster, _wanted(found, names), plan, slurm.largest_array())
    started: list[str] = []
    for array in first:
        started.append(_start(array, scale, source))
        yield f"job {started[-1]}: {_in_words(array)}"
    for array in then:
        yield f"job {_start(array, scale, source, after=started)}: {_in_words(array)}"


def _start(array: Array, scale: Any, source: Source | None, after: Sequence[str] = ()) -> str:
    path = write(array, scale, source)
    if source:
        offer(source, array.folder, array.tasks, scale)
    return slurm.submit(path, after)


def rehearsed(scale: Any, cluster: Cluster, names: Sequence[str]) -> Iterator[str]:
    """The scripts that would be submitted, and the hours that they may take."""
    source = source_of(cluster)
    found = states(scale, changed_stages())
    plan = Plan(scale, [task for task, _ in found])
    wanted = _wanted(found, names)
    for wave in planned_arrays(scale, cluster, wanted, plan, 1000):
        for array in wave:
            yield f"# {_in_words(array)}\n{script(array, scale, source)}"
    hours = sum(plan.hours.get(task, 0) for task in wanted)
    yield f"{len(wanted)} tasks, likely {in_units(hours)} of all processors of this machine"


def _wanted(found: Sequence[tuple[Task, Any]], names: Sequence[str]) -> list[Task]:
    """Those to submit; of two that train the same, one."""
    open_ = [task for task, state in found if state.name in UNSUBMITTED and (not names or task.experiment in names)]
    return list({task.key: task for task in open_}.values())


def _in_words(array: Array) -> str:
    titles = [task.title for task in array.tasks]
    shown = ", ".join(titles[:3]) + (" …" if len(titles) > 3 else "")
    asked = array.resources
    return f"{len(titles)} tasks ({shown}), {asked.processors} processors, {asked.memory}, {asked.time} each"
