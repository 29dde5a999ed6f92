"""The run of a cell, and in it one for every seed."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from mlflow.entities import Dataset, DatasetInput, InputTag

from iterlin_lab.mlflow.cells import Cell
from iterlin_lab.mlflow.metrics import cell_summary, colour_of, curve, log10_of, scalars, seed_summary
from iterlin_lab.mlflow.models import log_networks
from iterlin_lab.mlflow.provenance import provenance
from iterlin_lab.mlflow.store import Store, Version
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


class _Shown(NamedTuple):
    """What the runs of a cell have in common."""

    store: Store
    cell: Cell
    tags: dict[str, str]
    data: DatasetInput


def show_cell(store: Store, cell: Cell) -> bool:
    """Show a cell; false if it is there already."""
    version = Version(str(cell.path), cell.hash)
    if store.has(version):
        return False
    trained = trainings(cell.path)
    machine = next((training.machine for training in trained.values()), {})
    start = min((training.start for training in trained.values()), default=None)
    end = max((training.end for training in trained.values()), default=None)
    runs, curves = pd.read_csv(cell.path / "runs.csv"), pd.read_csv(cell.path / "curves.csv")
    mean = mean_curve(curves)
    common = version.tags | provenance(cell.stage) | colour_of(cell.params) | {"data": digest(cell.data)}
    shown = _Shown(store, cell, common, _dataset(cell.data))

    run = store.create(cell.name, common | machine | {"level": "cell", "present": "yes"}, start)
    store.log(run, params={"runs": len(runs)} | cell.params)
    store.client.log_inputs(run, [shown.data])
    model = log_networks(store, run, cell, _examples(cell.data), version.tags)
    summary = log10_of(cell.params) | cell_summary(runs, mean) | _mean_times(trained)
    store.log(run, [*scalars(summary, end, model), *curve(mean, "_mean", end)])
    for name in ("runs.csv", "curves.csv"):
        store.client.log_artifact(run, str(cell.path / name), "cell")
    if len(runs) <= SEEDS:
        for row in runs.to_dict("records"):
            _show_seed(shown, run, row, curves[curves["run"] == row["run"]], trained.get(row["run"]))
    store.finish(run, end)
    store.put_on_top(version, run)
    return True


def _show_seed(shown: _Shown, parent: str, row: dict, own: pd.DataFrame, trained: Training | None) -> None:
    store, cell = shown.store, shown.cell
    tags = shown.tags | {"level": "seed", "outcome": row["outcome"]} | (trained.machine if trained else {})
    run = store.create(f"{cell.name}, run {row['run']}", tags, trained.start if trained else None, parent)
    numbers = log10_of(cell.params) | seed_summary(row) | (trained.metrics() if trained else {})
    times = trained.times if trained and len(trained.times) == len(own) else None
    drawn = own.filter(items=["step", *CURVES])
    metrics = [*scalars(numbers, trained.end if trained else None), *curve(drawn, "", times)]
    store.log(run, metrics, {"run": row["run"]} | cell.params)
    store.client.log_inputs(run, [shown.data])
    store.finish(run, trained.end if trained else None)


def _mean_times(trained: dict[int, Training]) -> dict[str, float]:
    each = [training.metrics() for training in trained.values()]
    return {name: sum(times[name] for times in each) / len(each) for name in (each[0] if each else ())}


def _dataset(data: Path) -> DatasetInput:
    """The data as their card says: nothing is loaded."""
    card = _card(data)
    profile = {name: card[name] for name in ("examples", "image_shape", "class_counts")}
    source = json.dumps({"description": card["source"], "licence": card["licence"]})
    dataset = Dataset(card["name"], digest(data), "description", source, profile=json.dumps(profile))
    return DatasetInput(dataset, [InputTag("mlflow.data.context", "training")])


@cache
def _examples(data: Path) -> np.ndarray:
    """Two images to try a model on; the file is read whole."""
    return np.load(data, allow_pickle=False)["images"][:2].astype(np.float32)


def digest(data: Path) -> str:
    """What tells the data from others, short as MLflow wants it."""
    return _card(data)["sha256"][:8]


def _card(data: Path) -> dict[str, Any]:
    return json.loads(data.with_suffix(".json").read_text())
