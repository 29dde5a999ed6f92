"""The run of a cell, and in it one for every seed."""

import json
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from mlflow.entities import Dataset, DatasetInput

from iterlin_lab.mlflow.cells import Cell
from iterlin_lab.mlflow.metrics import cell_summary, curve, scalars, seed_summary
from iterlin_lab.mlflow.models import log_networks
from iterlin_lab.mlflow.store import Store
from iterlin_lab.mlflow.trained import Training, trainings
from iterlin_lab.tables import mean_curve

SEEDS = 20  # a cell with more runs shows their means only
# What a seed shows of what was recorded. All of it is in the cell's means and files: the database takes longest.
CURVES = [
    f"{model}_{split}_{name}"
    for model in ("network", "proxy")
    for split in ("train", "test")
    for name in ("loss", "accuracy")
]


class Context(NamedTuple):
    """What all cells of one sweep have in common."""

    store: Store
    parent: str
    scale: str
    tags: dict[str, str]
    data: dict[str, Any]  # the data card
    example: np.ndarray  # images to try a model on


def show_cell(context: Context, cell: Cell) -> bool:
    """Show a cell; false if it is there already. What it was in a sweep with other settings moves to this one."""
    store = context.store
    key = {"scale": context.scale, "stage": cell.stage, "output_hash": cell.hash, "cell": str(cell.path)}
    there = store.find(key | {"level": "cell"})
    if [run.info.status for run in there] == ["FINISHED"]:
        store.nest(there[0], context.parent)
        return False
    store.clear(key)  # what a connection that broke has left, or somebody who deleted a part
    trained = trainings(cell.path)
    machine = next((training.machine for training in trained.values()), {})
    start = min((training.start for training in trained.values()), default=None)
    end = max((training.end for training in trained.values()), default=None)
    runs, curves = pd.read_csv(cell.path / "runs.csv"), pd.read_csv(cell.path / "curves.csv")

    tags = key | context.tags | {"group": cell.group}
    run = store.create(cell.name, tags | machine | {"level": "cell"}, start, context.parent)
    store.log(run, params={"runs": len(runs)} | cell.params)
    store.client.log_inputs(run, [DatasetInput(_dataset(context.data))])
    model = log_networks(store, run, cell.path / "models", context.example, cell.params, key)
    store.log(run, scalars(cell_summary(runs) | _mean_times(trained), end, model))
    store.log(run, curve(mean_curve(curves), "_mean", end))
    for name in ("runs.csv", "curves.csv"):
        store.client.log_artifact(run, str(cell.path / name), "cell")
    if len(runs) <= SEEDS:
        for row in runs.to_dict("records"):
            _show_seed(context, cell, run, tags, row, curves[curves["run"] == row["run"]], trained.get(row["run"]))
    store.finish(run, end)
    return True


def _show_seed(
    context: Context, cell: Cell, parent: str, tags: dict, row: dict, own: pd.DataFrame, trained: Training | None
) -> None:
    store = context.store
    tags |= {"level": "seed", "outcome": row["outcome"]} | (trained.machine if trained else {})
    run = store.create(f"{cell.name}, run {row['run']}", tags, trained.start if trained else None, parent)
    numbers = seed_summary(row) | (trained.metrics() if trained else {})
    times = trained.times if trained and len(trained.times) == len(own) else None
    drawn = own.filter(items=["step", *CURVES])
    metrics = [*scalars(numbers, trained.end if trained else None), *curve(drawn, "", times)]
    store.log(run, metrics, {"run": row["run"]} | cell.params)
    store.finish(run, trained.end if trained else None)


def _mean_times(trained: dict[int, Training]) -> dict[str, float]:
    each = [training.metrics() for training in trained.values()]
    return {name: sum(times[name] for times in each) / len(each) for name in (each[0] if each else ())}


def _dataset(card: dict[str, Any]) -> Dataset:
    """The data, named by the digest in their card: nothing is loaded."""
    profile = {name: card[name] for name in ("examples", "image_shape", "class_counts")}
    source = json.dumps({"description": card["source"], "licence": card["licence"]})
    return Dataset(card["name"], card["sha256"][:8], "description", source, profile=json.dumps(profile))
