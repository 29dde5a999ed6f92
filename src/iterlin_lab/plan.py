"""How long the training stages may take on this machine, and how much memory and disk, before a long run is started."""

import hashlib
import json
import math
import os
from importlib.metadata import version
from typing import Any, NamedTuple

from iterlin_lab.config import Scale
from iterlin_lab.experiments.k_sweep import tgn_recipe
from iterlin_lab.experiments.recipe import Recipe
from iterlin_lab.experiments.registry import EXPERIMENTS, LECTURE
from iterlin_lab.files import alone, write_text
from iterlin_lab.memory import KEPT, Need, known, limit_workers, size
from iterlin_lab.mend import status
from iterlin_lab.runtime import num_workers, prepare_jax

START = 10  # seconds until the processes of a cell compute
COPIES = 3  # of a result: in the scratch folder, in DVC's cache and in the workspace
EVALUATIONS = 130  # of a flow between two records: seen are 20 to 105
SMALL = 5e-4  # seconds of a step of the networks that E-XOR and E-DAMP1D have; seen are half of that
NOT_ESTIMATED = ("probes", "filters", *LECTURE)  # whose time does not follow from numbers of steps
PRODUCTS = 10  # with the Gauss–Newton matrix, of a Newton step: seen are 3 to 6, and up to 75 in runs of few steps


class Work(NamedTuple):
    """The cells of one stage: each trains `seeds` networks in each of `settings` ways for up to `steps`.

    `at_once` of the seeds are in one program. `lazy` says that phases are long.
    `step` is the seconds of a step where the network is not the scale's.
    """

    stage: str
    cells: list[str]
    settings: int
    seeds: int
    at_once: int
    steps: int
    lazy: bool
    step: float | None = None

    @property
    def runs(self) -> int:
        """The networks that a cell trains."""
        return self.settings * self.seeds

    @property
    def groups(self) -> int:
        """The programs that it runs."""
        return self.settings * math.ceil(self.seeds / self.at_once)


def work(scale: Scale) -> list[Work]:
    """All training that the pipeline of this scale consists of."""
    sweep, around, check = scale.k_sweep, scale.sensitivity, scale.flow_check
    at_once = scale.runs_at_once
    steps = sweep.num_steps if sweep.solver.name == "gradient_descent" else round(EVALUATIONS * _records(scale))
    long = [f"k_sweep@{scale.name}-{period}" for period in sweep.periods if period != "1"]
    tgn, newton = scale.tgn_baseline, math.ceil(_evaluations(scale, tgn_recipe(scale, 0)))
    grid = scale.stability
    return [
        Work("k_sweep, K = 1", [f"k_sweep@{scale.name}-1"], 1, sweep.num_seeds, at_once, steps, lazy=False),
        Work("k_sweep, K > 1", long, 1, sweep.num_seeds, at_once, steps, lazy=True),
        *(
            Work(
                f"sensitivity, η × {factor}",
                [f"sensitivity@{scale.name}-{factor}"],
                len(around.periods),
                around.num_seeds,
                at_once,
                math.ceil(around.num_steps / float(factor)),
                lazy=False,
            )
            for factor in around.factors
        ),
        Work(
            "flow_check",
            [f"flow_check@{scale.name}"],
            2 * len(check.learning_rates),
            check.num_seeds,
            1,
            (1 + len(check.tolerances)) * check.num_steps,
            lazy=False,
        ),
        Work("tgn_baseline", [f"tgn_baseline@{scale.name}"], 1, tgn.num_seeds, at_once, newton, lazy=True),
        Work(
            "stability",
            [f"stability@{scale.name}"],
            len(grid.learning_rates) * len(grid.periods),
            grid.num_seeds,
            at_once,
            grid.num_steps,
            lazy=True,
        ),
        *_registered(scale),
        *_small(scale),
    ]


def _small(scale: Scale) -> list[Work]:
    """The experiments on networks of their own."""
    xor, damp1d = scale.xor, scale.damp1d
    ways = len(xor.periods) + len(xor.dampings), 1 + len(damp1d.dampings) + len(damp1d.step_sizes)
    return [
        Work("xor", [f"xor@{scale.name}"], ways[0], xor.num_seeds, xor.runs_at_once, xor.num_steps, False, SMALL),
        Work(
            "damp1d",
            [f"damp1d@{scale.name}"],
            ways[1],
            damp1d.num_seeds,
            damp1d.runs_at_once,
            damp1d.num_steps,
            False,
            SMALL,
        ),
    ]


def _registered(scale: Scale) -> list[Work]:
    """The experiments whose cells differ in their steps: all have the mean number."""
    found = []
    for stage, experiment in EXPERIMENTS.items():
        runs = list(experiment.cells(scale).values())
        steps = math.ceil(sum(_evaluations(scale, recipe) for recipe, *_ in runs) / len(runs))
        address = [f"{stage}@{scale.name}"]
        found.append(Work(stage, address, len(runs), len(runs[0]), scale.runs_at_once, steps, lazy=True))
    return found


def _evaluations(scale: Scale, recipe: Recipe) -> float:
    """Of a gradient on as many examples as the scale's own steps have, or products that cost as much."""
    steps, solver = recipe.training["num_steps"], recipe.solver["name"]
    if solver == "flow":
        steps = EVALUATIONS * _records(scale)
    elif solver == "truncated":
        steps *= PRODUCTS
    own, usual = recipe.training["batch_size"], scale.training.batch_size
    return steps * (own or recipe.sizes["train"]) / (usual or scale.data.num_train)


def cells_of(scale: Scale) -> list[str]:
    """The stages that train, as DVC names them."""
    return [cell for item in work(scale) for cell in item.cells]


def changed_stages() -> list[str]:
    """The stages that DVC would run now, and those that are affected by them."""
    return list(status())


def make_plan(scale: Scale) -> list[dict[str, Any]]:
    """A row a stage. Hours are an upper bound: a run that fits its training set stops before its step limit.

    They are those of a processor, where runs at once take as long as one after another.
    """
    need, costs, rows = _need(scale), _estimate(scale), []
    limit_workers(scale)
    for item in work(scale):
        side_by_side = min(item.groups, num_workers(scale.threads))
        run = item.steps * costs["lazy_step" if item.lazy else "step"] + _records(scale) * costs["record"]
        run = run if item.step is None else item.steps * item.step
        seconds = START + math.ceil(item.groups / side_by_side) * item.at_once * run
        rows.append(
            {
                "stage": item.stage,
                "cells": item.cells,
                "runs": item.runs,
                "hours": len(item.cells) * seconds / 3600,
                # Other cells take the processors that this one leaves.
                "memory": num_workers(scale.threads) * need.group(item.at_once),
                "disk": COPIES * len(item.cells) * item.runs * 4 * costs["num_params"],
            }
        )
    return rows


def _records(scale: Scale) -> float:
    sweep = scale.k_sweep
    return math.log10(sweep.num_steps / sweep.first_record) * scale.training.records_per_decade + 1


def hours(rows: list[dict[str, Any]]) -> float:
    """The hours of a whole plan."""
    return sum(row["hours"] for row in rows)


def table(rows: list[dict[str, Any]]) -> str:
    """The plan as text."""
    from tabulate import tabulate

    lines = [
        (row["stage"], len(row["cells"]), row["runs"], _hours(row["hours"]), size(row["memory"]), size(row["disk"]))
        for row in rows
    ]
    memory, disk = max(row["memory"] for row in rows), sum(row["disk"] for row in rows)
    lines.append(("all", sum(len(row["cells"]) for row in rows), "", _hours(hours(rows)), size(memory), size(disk)))
    names = ("stage", "cells", "runs a cell", "at most", "memory", "disk")
    drawn = tabulate(lines, names, colalign=("left", *("right",) * 5), disable_numparse=True)
    return f"{drawn}\nNot estimated: {', '.join(NOT_ESTIMATED)}"


def pending(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The part of the plan that DVC would run now: all of it if what all cells read has changed."""
    changed = set(changed_stages())
    if any(name.startswith(("prepare", "regime")) for name in changed):
        return rows
    left = [{**row, "cells": [cell for cell in row["cells"] if cell in changed]} for row in rows]
    return [
        {**row, "hours": row["hours"] * len(row["cells"]) / len(old["cells"])}
        for row, old in zip(left, rows, strict=True)
        if row["cells"]
    ]


def _need(scale: Scale) -> Need:
    """Exits with one line if a run does not fit into memory."""
    need = known(scale)
    if need is None or need.group(scale.runs_at_once) > need.free():
        prepare_jax(scale)
        from iterlin_lab.experiments.memory import require  # jax starts here

        need = require(scale)
    return need


def _estimate(scale: Scale) -> dict[str, float]:
    """Measured once for a network, data and machine."""
    what = {
        "data": scale.data.model_dump(),
        "net": scale.net.model_dump(),
        "batch_size": scale.training.batch_size,
        "threads": scale.threads,
        "precision": scale.precision,
        "cores": os.cpu_count(),
        "jax": version("jax"),
    }
    path = KEPT / f"{hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]}.json"
    if not path.exists():
        prepare_jax(scale)
        from iterlin_lab.experiments.estimate import estimate  # jax starts here

        print("Measuring a few steps, to estimate what the whole takes …", flush=True)
        with alone(KEPT / "lock", "the estimates"):
            write_text(path, json.dumps(estimate(scale)._asdict()))
    return json.loads(path.read_text())


def _hours(hours: float) -> str:
    return f"{60 * hours:.0f} min" if hours < 1 else f"{hours:,.0f} h"
