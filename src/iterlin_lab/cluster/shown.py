"""The states of all tasks, as a table."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from iterlin_lab.cluster.elsewhere import gather
from iterlin_lab.cluster.settings import Cluster
from iterlin_lab.cluster.states import DONE, KEPT, LATER, RUNNING, STATES, WAITING, State, states
from iterlin_lab.cluster.submit import Plan, changed_stages
from iterlin_lab.cluster.tasks import Task, tasks
from iterlin_lab.dvc.jobs import PIPELINE_LOCK
from iterlin_lab.files import held
from iterlin_lab.planning.plan import in_units

SECONDS = 10  # between two looks
SHOWN = 20  # lines on what runs or failed
MEANING = (
    "done: DVC has it; kept: trained, `make repro` gathers it; stopped: its job ended before its time; "
    "later: reads what is not gathered yet"
)


def show(scale: Any, cluster: Cluster, watch: bool) -> None:
    """Print the table, and again as long as a job waits or runs if it is to be watched."""
    if busy := held(PIPELINE_LOCK):
        print("The pipeline runs here: what it has gathered already counts as kept")
    changed = {task.stage for task in tasks(scale)} if busy else changed_stages()
    hours = None
    while True:
        if cluster.remote is not None:
            gather(scale, cluster.remote)
        found = states(scale, changed)
        hours = hours or Plan(scale, [task for task, _ in found]).hours
        print(table(found, hours), flush=True)
        if not (watch and any(state.name in (RUNNING, WAITING) for _, state in found)):
            return
        time.sleep(SECONDS)


def table(found: Sequence[tuple[Task, State]], hours: Mapping[Task, float]) -> str:
    """A row an experiment: how many tasks are in each state, and the hours left. Below them what runs or failed."""
    from tabulate import tabulate

    used = [name for name in STATES if any(state.name == name for _, state in found)]
    rows = []
    for experiment, group in groupby(found, key=lambda pair: pair[0].experiment):
        rows.append((experiment, *_row(list(group), used, hours)))
    rows.append(("all", *_row(found, used, hours)))
    drawn = tabulate(rows, ("experiment", *used, "left, likely"), disable_numparse=True)
    told = [f"{state.name}: {task.title}, {state.note}" for task, state in found if state.note and state.name != LATER]
    told = [*told[:SHOWN], f"and {len(told) - SHOWN} more"] if len(told) > SHOWN else told
    return "\n".join([drawn, *told, MEANING])


def _row(found: Sequence[tuple[Task, State]], used: list[str], hours: Mapping[Task, float]) -> list[str]:
    counts = Counter(state.name for _, state in found)
    left = sum(hours.get(task, 0) for task, state in found if state.name not in (DONE, KEPT))
    return [*(str(counts[name] or "") for name in used), in_units(left)]
