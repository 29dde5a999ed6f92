"""What a job can do: train a cell of runs, or compute the tables of an experiment. All of it goes to the store."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.experiments import EXPERIMENTS, chosen
from iterlin_lab.experiments.experiment import Cell, Experiment
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import train_all
from iterlin_lab.runs.computed import CODE, computed, described, inputs
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.runs.store import entries_of, key_of


class Task(NamedTuple):
    """A cell, by its number among all that the experiment trains, or the experiment's tables, where that is `None`.

    `key` tells apart what is trained, by its settings. `after` says that tables are computed from cells of the
    experiment, which train first.
    """

    experiment: str
    number: int | None
    title: str
    stage: str
    key: str
    after: bool = False


def tasks(scale: Any) -> list[Task]:
    """All training of this scale."""
    return [task for experiment in chosen(scale) for task in _tasks(experiment, scale)]


def _tasks(experiment: Experiment, scale: Any) -> Iterator[Task]:
    name, cells = experiment.name, experiment.trained(scale)
    for number, cell in enumerate(cells):
        place = f" {number + 1}/{len(cells)}" if experiment.tabled else ""
        key = key_of([str(experiment.data(scale)), cell.recipes])
        yield Task(name, number, cell.title + place, cell.stage, key)
    if experiment.label is None:
        (stage,) = experiment.stages(scale)
        key = key_of([name, experiment.of(scale).model_dump(mode="json")])
        yield Task(name, None, f"{experiment.ids[0]}, tables", stage, key, after=bool(cells))


def do(task: Task, scale: Any) -> None:
    """Train it; what is kept already is not trained again."""
    experiment = EXPERIMENTS[task.experiment]
    if task.number is None:
        computed(experiment, scale)
    else:
        train_all(scale, experiment.data(scale), [experiment.trained(scale)[task.number].recipes], task.title)


def is_kept(task: Task, scale: Any, cells: Sequence[Cell] | None = None) -> bool:
    """Whether all that it would train is in the store (`kept_in`)."""
    entries = kept_in(task, scale, cells)
    return bool(entries) and all(entry.exists() for entry in entries)


def kept_in(task: Task, scale: Any, cells: Sequence[Cell] | None = None) -> list[Path]:
    """Where the store has what it trains, or will have it; none as long as what it reads is not there.

    Who asks for many tasks has listed the `cells` of the experiment, which takes time.
    """
    experiment = EXPERIMENTS[task.experiment]
    if not all(path.exists() for path in reads(task, scale)):
        return []
    if task.number is None:
        return entries_of([described(experiment, scale)], CODE)
    return _entries((cells or experiment.trained(scale))[task.number].recipes, experiment.data(scale))


def needs(task: Task, scale: Any) -> list[Path]:
    """Where the store has what it trains, and what its tables are computed from."""
    below = [one for one in tasks(scale) if task.after and one.experiment == task.experiment]
    return [entry for one in (below or [task]) for entry in kept_in(one, scale)]


def reads(task: Task, scale: Any) -> list[Path]:
    """The data and results that it reads."""
    return inputs(EXPERIMENTS[task.experiment], scale)


def _entries(recipes: list[Recipe], data: Path) -> list[Path]:
    from iterlin_lab.runs.training import identity  # jax starts here

    return entries_of(*identity(recipes, _digests(data)))


@cache
def _digests(data: Path) -> dict[str, str]:
    from iterlin_lab.runs.splits import read_data
    from iterlin_lab.runs.training import digests

    return digests(read_data(data))


def waits_for(experiment: Experiment, scale: Any, changed: set[str]) -> list[str]:
    """The experiments whose results it reads that DVC has not gathered yet."""
    read = set(inputs(experiment, scale))
    sources = [one for one in chosen(scale) if Layout(scale.name).results / one.name in read]
    return [one.name for one in sources if changed & set(one.stages(scale))]
