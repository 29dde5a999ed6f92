"""E-VIT: a vision transformer with every K, and how far its tangent kernel moves."""

import json
from itertools import chain, product
from pathlib import Path

import pandas as pd

from iterlin._similarity import kernel_distance
from iterlin_lab.experiments.vit.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.cells import train_all
from iterlin_lab.runs.kernels import traced_ntk
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.runs.results import snapshot
from iterlin_lab.runs.splits import draw_splits, read_data
from iterlin_lab.runs.training import keys
from iterlin_lab.runs.workers import side_by_side
from iterlin_lab.settings import parse_period


def recipe(scale: Scope, period: str, run: int) -> Recipe:
    """Gradient descent for all steps, whether the training set is fitted before or not: all K are read at one time."""
    own = scale.vit
    return make_recipe(
        scale,
        run,
        seed=own.seed,
        solver={"name": "gradient_descent"},
        learning_rate=own.learning_rate,
        num_steps=own.num_steps,
        period=parse_period(period),
        net=own.net,
        snapshots=True,
        fit_loss=None,
        records_per_decade=own.records_per_decade,
        batch_size=None,
    )


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, with how far its kernel has moved by the end; and a row a record."""
    own, data = scale.vit, Layout(scale.name).data
    runs = list(product(own.periods, range(own.num_seeds)))
    recipes = [[recipe(scale, period, run) for run in range(own.num_seeds)] for period in own.periods]
    folders = train_all(scale, data, recipes, "E-VIT")
    tasks = [
        (scale, data, run, [folder for folder, (_, other) in zip(folders, runs, strict=True) if other == run])
        for run in range(own.num_seeds)
    ]
    found = side_by_side(f"{__name__}:{moved.__name__}", tasks, scale.threads, "E-VIT, kernels", "run")
    distances = chain.from_iterable(zip(*found, strict=True))  # in the order of the runs
    rows, curves = [], []
    for (period, run), folder, distance in zip(runs, folders, distances, strict=True):
        rows.append({"period": period, **json.loads((folder / "run.json").read_text()), "kernel_distance": distance})
        curves.append(pd.read_csv(folder / "curve.csv").assign(period=period, run=run))
    return {"runs": pd.DataFrame(rows), "curves": pd.concat(curves)}


def moved(task: tuple[Scope, Path, int, list[Path]]) -> list[float]:
    """For one run with every K, how far the last network's NTK is from the first one's, traced over the outputs.

    NaN if the run diverged.
    """
    scale, data, run, folders = task
    splits, _ = draw_splits(read_data(data), scale.data.sizes, keys(scale.vit.seed, run)[0])
    x = splits["train"][0][: scale.vit.num_examples]
    first = traced_ntk(load(snapshot(folders[0], 0)).model, x)
    return [float(kernel_distance(first, traced_ntk(load(folder / "model.eqx").model, x))) for folder in folders]
