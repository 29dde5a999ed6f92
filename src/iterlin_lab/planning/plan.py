"""How long the training stages may take on this machine, and how much memory and disk, before a long run is started."""

import math
from collections.abc import Collection, Iterator
from itertools import groupby
from statistics import fmean
from typing import Any, NamedTuple

from iterlin_lab.dvc.asked import Asked
from iterlin_lab.dvc.status import status
from iterlin_lab.experiments import chosen
from iterlin_lab.experiments.experiment import Cost, Experiment
from iterlin_lab.planning.bounds import Bounds, evaluations, num_records
from iterlin_lab.planning.costs import costs_of, kept_costs
from iterlin_lab.runs.memory import Need, known, limit_workers, size
from iterlin_lab.runs.recipes import Recipe, may_have_dual
from iterlin_lab.runs.workers import num_workers, prepare_jax
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solvers import solver_of

START = 10  # seconds until the processes of a cell compile what they compute
COPIES = 3  # of a result: in the scratch folder, in DVC's cache and in the workspace


class Phases(NamedTuple):
    """How many evaluations a run takes, and about how many each of its phases; None if these have no dual.

    `forced` says that they take the dual wherever there is one.
    """

    evaluations: Bounds
    each: float | None
    forced: bool = False

    def steps(self, costs: dict[str, float]) -> Bounds:
        """How many evaluations on the parameters would take as long."""
        gains = self.each is not None and self.each > costs["break_even"]
        if self.each is None or math.isinf(costs["break_even"]) or not (gains or self.forced):
            return self.evaluations
        return self.evaluations.times(costs["break_even"] / self.each + costs["dual_step"])


class Row(NamedTuple):
    """What the stages of one row of the plan train: a cost each, the records of a run, and whose steps are measured."""

    label: str
    stages: list[str]
    cost: Cost
    records: float
    net: dict[str, Any]
    phases: tuple[Phases, ...] = ()  # of each way

    @property
    def runs(self) -> int:
        """The networks that a stage trains."""
        return self.cost.ways * self.cost.seeds

    @property
    def measured(self) -> bool:
        """Whether its steps are; those of toy problems are known."""
        return self.cost.step is None

    @property
    def groups(self) -> int:
        """The programs that it runs."""
        return self.cost.ways * math.ceil(self.cost.seeds / self.cost.at_once)


def work(scale: Any) -> list[Row]:
    """All training that the pipeline of this scale consists of."""
    return [row for experiment in chosen(scale) for row in _rows(scale, experiment)]


def _rows(scale: Any, experiment: Experiment) -> Iterator[Row]:
    part, net = experiment.of(scale), scale.net.model_dump()
    whole = experiment.cost and experiment.cost(part)
    if experiment.network and not (whole and whole.step):
        net = experiment.network(part).net
    if whole:
        yield Row(experiment.name, experiment.stages(scale), whole, 0, net)
    for stage, cells in groupby(experiment.trained(scale), key=lambda cell: cell.stage):
        recipes = [cell.recipes for cell in cells]
        phases = tuple(_phases(scale, recipe) for recipe, *_ in recipes)
        steps = math.ceil(fmean(one.evaluations.likely for one in phases))
        lazy = any(recipe.period != 1 for recipe, *_ in recipes)
        cost = Cost(len(recipes), len(recipes[0]), scale.runs_at_once, steps, lazy)
        part = stage.partition("@")[2].split("-")[2:]
        label = ", ".join([experiment.name, *([experiment.title(part)] if part else [])])
        yield Row(label, [stage], cost, fmean(num_records(recipe) for recipe, *_ in recipes), net, phases)


def not_estimated(scale: Any) -> list[str]:
    """The experiments whose time does not follow from numbers of steps."""
    return [one.name for one in chosen(scale) if not (one.cost or one.tabled or one.label)]


def _phases(scale: Shared, recipe: Recipe) -> Phases:
    """The gradients of a run on as many examples as the scale's own steps have, or what costs as much.

    Likely are as many as were seen on digits, also where phases are long.
    """
    solver, num_steps = solver_of(recipe.solver), recipe.training["num_steps"]
    own, usual = recipe.training["batch_size"], scale.training.batch_size
    share = (own or recipe.sizes["train"]) / (usual or scale.data.num_train)
    each = solver.evaluations_a_phase(min(recipe.period or math.inf, num_steps)) if may_have_dual(recipe) else None
    seen = solver.evaluations(num_steps, num_records(recipe))
    return Phases(Bounds(seen, evaluations(recipe).most).times(share), each, recipe.form == "dual")


def cells_of(scale: Any) -> list[str]:
    """The stages that train, as DVC names them."""
    return [stage for row in work(scale) for stage in row.stages]


def make_plan(scale: Any, stages: Collection[str] = ()) -> list[dict[str, Any]]:
    """A row a stage. Where `stages` are given, only rows that have one of them, and only their networks are measured.

    Its hours are those of a processor, where runs at once take as long as one after another. At most they are what runs
    take that never fit their training set.
    """
    need, rows = _need(scale), []
    limit_workers(scale)
    for row in _of(scale, stages):
        cost, costs = row.cost, costs_of(scale, row.net) if row.measured else {"num_params": 0.0}
        side_by_side = min(row.groups, num_workers(scale.threads))
        runs = math.ceil(row.groups / side_by_side) * cost.at_once
        rows.append(
            {
                "stage": row.label,
                "cells": row.stages,
                "runs": row.runs,
                "hours": _run(row, costs).times(runs).plus(_start(row, costs)).times(len(row.stages) / 3600),
                # Other stages take the processors that this one leaves.
                "memory": num_workers(scale.threads) * need.group(cost.at_once),
                "disk": COPIES * len(row.stages) * row.runs * 4 * costs["num_params"],
            }
        )
    return rows


def _of(scale: Any, stages: Collection[str]) -> list[Row]:
    """The rows that have one of these stages, or all."""
    return [row for row in work(scale) if not stages or set(row.stages) & set(stages)]


def _start(row: Row, costs: dict[str, float]) -> float:
    """Seconds until the first step. The programs of toy problems compile at once."""
    return START + costs["compiling"] if row.measured else START


def _run(row: Row, costs: dict[str, float]) -> Bounds:
    """Seconds of a run."""
    if row.cost.step is not None:
        return Bounds.exactly(row.cost.steps * row.cost.step)
    counted = [one.steps(costs) for one in row.phases] or [Bounds.exactly(row.cost.steps)]
    step = costs["lazy_step" if row.cost.lazy else "step"]
    return Bounds.sum(counted).times(step / len(counted)).plus(row.records * costs["record"])


def measured_hours(scale: Any, stages: Collection[str]) -> dict[str, float]:
    """The hours of these stages, of those that train; none of them while anything is not measured on this machine."""
    rows = [row for row in _of(scale, stages) if row.measured]
    measured = known(scale) is not None and all(kept_costs(scale, row.net).exists() for row in rows)
    return hours_by_stage(make_plan(scale, stages)) if measured else {}


def hours_by_stage(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The likely hours of every stage of a plan."""
    return {stage: row["hours"].likely / len(row["cells"]) for row in rows for stage in row["cells"]}


def hours(rows: list[dict[str, Any]]) -> Bounds:
    """The hours of a whole plan."""
    return Bounds.sum(row["hours"] for row in rows)


def table(rows: list[dict[str, Any]], left_out: list[str]) -> str:
    """The plan as text, and what is not in it."""
    from tabulate import tabulate

    total = {
        "stage": "all",
        "cells": [cell for row in rows for cell in row["cells"]],
        "runs": "",
        "hours": hours(rows),
        "memory": max((row["memory"] for row in rows), default=0),
        "disk": sum(row["disk"] for row in rows),
    }
    lines = [_line(row) for row in [*rows, total]]
    names = ("stage", "cells", "runs a cell", "likely", "at most", "memory", "disk")
    drawn = tabulate(lines, names, colalign=("left", *("right",) * 6), disable_numparse=True)
    return f"{drawn}\nNot estimated: {', '.join(left_out) or 'nothing'}"


def _line(row: dict[str, Any]) -> tuple[Any, ...]:
    needed = size(row["memory"]), size(row["disk"])
    return row["stage"], len(row["cells"]), row["runs"], *map(in_units, row["hours"]), *needed


def pending(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The part of the plan that DVC would run now: all of it if what all cells read has changed."""
    with Asked() as dvc:
        changed = set(status(dvc))
    if any(name.startswith(("prepare@", "regime@")) for name in changed):
        return rows
    left = [{**row, "cells": [cell for cell in row["cells"] if cell in changed]} for row in rows]
    return [
        row | {"hours": row["hours"].times(len(row["cells"]) / len(old["cells"]))}
        for row, old in zip(left, rows, strict=True)
        if row["cells"]
    ]


def _need(scale: Any) -> Need:
    """Exits with one line if a run does not fit into memory."""
    need = known(scale)
    if need is None or need.group(scale.runs_at_once) > need.free():
        prepare_jax(scale)
        from iterlin_lab.planning.memory import require  # jax starts here

        need = require(scale)
    return need


def in_units(hours: float) -> str:
    """In minutes, hours, days or years."""
    for unit, length in (("years", 24 * 365), ("days", 24), ("h", 1)):
        if hours >= 2 * length:
            return f"{hours / length:,.0f} {unit}"
    return f"{60 * hours:.0f} min"
