"""Runs of E-VIT, with every K. Nothing here imports jax before it runs."""

import json

import pandas as pd

from iterlin_lab.experiments.vit.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import moved, train_all
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def recipes(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every K."""
    own = scale.vit
    return {period: [_recipe(scale, period, run) for run in range(own.num_seeds)] for period in own.periods}


def _recipe(scale: Scope, period: str, run: int) -> Recipe:
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
        fit_loss=None,
        records_per_decade=own.records_per_decade,
        batch_size=None,
    )


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, with how far its kernel has moved by the end; and a row a record."""
    data, cells = Layout(scale.name).data, recipes(scale)
    folders = train_all(scale, data, list(cells.values()), "E-VIT")
    runs = [(period, recipe) for period, cell in cells.items() for recipe in cell]
    trained = [(recipe, folder) for (_, recipe), folder in zip(runs, folders, strict=True)]
    kernels = moved(scale, data, trained, scale.vit.num_examples, "E-VIT, kernels")
    rows, curves = [], []
    for (period, recipe), folder, kernel in zip(runs, folders, kernels, strict=True):
        distance = {"kernel_distance": kernel["kernel_distance"]}
        rows.append({"period": period, **json.loads((folder / "run.json").read_text()), **distance})
        curves.append(pd.read_csv(folder / "curve.csv").assign(period=period, run=recipe.run))
    return {"runs": pd.DataFrame(rows), "curves": pd.concat(curves)}
