"""E-STABLE (W fig. 1 and 2): which learning rates and periods diverge."""

import json
from itertools import product
from typing import NamedTuple

import pandas as pd

from iterlin_lab.experiments.stability.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import train_all
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.recipes import RESULT, Recipe, make_recipe
from iterlin_lab.runs.workers import run_side_by_side
from iterlin_lab.settings import parse_period

MAX_EIGENVALUE = "iterlin_lab.runs.training:max_eigenvalue"
COLUMNS = ["run", "outcome", "steps", "last_finite_step", "eta_lambda_max_at_divergence", "network_final"]


class Cell(NamedTuple):
    """Runs that differ in their seed alone; `initialisation` and `method` (gd or sgd) are columns of the tables."""

    initialisation: str
    method: str
    learning_rate: float
    period: str


def cells(scale: Scope) -> list[Cell]:
    """Every pair of η and K from both initialisations, and SGD with the smallest η."""
    own, first = scale.stability, scale.net.initialisation
    pairs = [Cell(first, "gd", *pair) for pair in product(own.learning_rates, own.periods)]
    other = own.other
    pairs += [Cell(other.initialisation, "gd", *pair) for pair in product(other.learning_rates, other.periods)]
    return [*pairs, Cell(first, "sgd", min(own.learning_rates), "1")]


def recipe(scale: Scope, cell: Cell, run: int) -> Recipe:
    """Gradient descent on full batches, or on mini-batches."""
    own = scale.stability
    return make_recipe(
        scale,
        run,
        solver={"name": "gradient_descent"},
        learning_rate=cell.learning_rate,
        num_steps=own.num_steps,
        period=parse_period(cell.period),
        net=scale.net.model_copy(update={"initialisation": cell.initialisation}),
        fit_loss=None,  # a run that has fitted may diverge yet
        records_per_decade=own.records_per_decade,
        batch_size=own.batch_size if cell.method == "sgd" else None,
    )


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run: its cell, how it ended, and λ_max of its GGN at initialisation; and the learning curves."""
    data, own = Layout(scale.name).data, cells(scale)
    limit_workers(scale)
    recipes = [[recipe(scale, cell, run) for run in range(scale.stability.num_seeds)] for cell in own]
    eigenvalues = _max_eigenvalues(scale, recipes)
    folders = train_all(scale, data, recipes, "E-STABLE")
    rows, curves = [], []
    for folder, (cell, number) in zip(folders, product(own, range(scale.stability.num_seeds)), strict=True):
        row = json.loads((folder / "run.json").read_text())
        rows.append(cell._asdict() | {"max_eigenvalue": eigenvalues[cell.initialisation, number]} | row)
        curve = pd.read_csv(folder / "curve.csv")[["step", "network_test_accuracy"]]
        curves.append(curve.assign(**cell._asdict(), run=number))
    columns = [*Cell._fields, "max_eigenvalue", *COLUMNS]
    return {"runs": pd.DataFrame(rows)[columns], "curves": pd.concat(curves)}


def _max_eigenvalues(scale: Scope, recipes: list[list[Recipe]]) -> dict[tuple[str, int], float]:
    """λ_max at initialisation, by the initialisation and the number of the run."""
    nets = {(one.net["initialisation"], one.run): one.net for own in recipes for one in own}
    data, sizes = Layout(scale.name).data, scale.data.sizes
    draws = [(scale.seed, run, RESULT, net, sizes, data) for (_, run), net in nets.items()]
    return dict(zip(nets, run_side_by_side(MAX_EIGENVALUE, draws, scale.threads, progress=iter), strict=True))
