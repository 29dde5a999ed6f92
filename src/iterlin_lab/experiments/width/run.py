"""Runs of E-WIDTH, with every width and K. Nothing here imports jax before it runs."""

import json
import math

import pandas as pd

from iterlin_lab.experiments.width.settings import Scope, with_channels
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import moved, train_all
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def recipes(scale: Scope) -> dict[tuple[int, str], list[Recipe]]:
    """The runs by channels and K. Run i has one draw of data everywhere, and one network for all K of a width."""
    own = scale.width

    def recipe(channels: int, period: str, run: int) -> Recipe:
        return make_recipe(
            scale,
            run,
            solver=own.solver.values(),
            learning_rate=own.learning_rate,
            num_steps=own.num_steps,
            first_record=own.first_record,
            period=parse_period(period),
            net=with_channels(scale.net, channels),
            batch_size=None,
        )

    return {
        (channels, period): [recipe(channels, period, run) for run in range(own.num_seeds)]
        for channels in own.channels
        for period in own.periods
    }


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, with how far its kernel has moved by the end, but for K = ∞, whose proxy keeps its kernel."""
    data, cells = Layout(scale.name).data, recipes(scale)
    runs = [(channels, recipe) for (channels, _), cell in cells.items() for recipe in cell]
    folders = train_all(scale, data, list(cells.values()), "E-WIDTH")
    trained = [(recipe, folder) for (_, recipe), folder in zip(runs, folders, strict=True) if _moves(recipe)]
    kernels = iter(moved(scale, data, trained, scale.width.num_examples, "E-WIDTH, kernels"))
    rows = [
        {
            "channels": channels,
            "K": recipe.period,
            **json.loads((folder / "run.json").read_text()),
            "kernel_distance": next(kernels)["kernel_distance"] if _moves(recipe) else 0.0,
        }
        for (channels, recipe), folder in zip(runs, folders, strict=True)
    ]
    return {"runs": pd.DataFrame(rows)}


def _moves(recipe: Recipe) -> bool:
    return recipe.period != math.inf
