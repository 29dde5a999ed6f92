"""E-STABLE (W fig. 1 and 2): which learning rates and periods diverge."""

import json
from itertools import product

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


def recipe(scale: Scope, learning_rate: float, period: str, run: int) -> Recipe:
    """Gradient descent on full batches."""
    return make_recipe(
        scale,
        run,
        solver={"name": "gradient_descent"},
        learning_rate=learning_rate,
        num_steps=scale.stability.num_steps,
        period=parse_period(period),
        records_per_decade=1,  # how a run ends is all that is read
        batch_size=None,
    )


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run: η, K, how it ended, and λ_max of its GGN at initialisation."""
    experiment, net, sizes = scale.stability, scale.net.model_dump(), scale.data.sizes
    limit_workers(scale)
    data, runs = Layout(scale.name).data, range(experiment.num_seeds)
    draws = [(scale.seed, run, RESULT, net, sizes, data) for run in runs]
    eigenvalues = run_side_by_side(MAX_EIGENVALUE, draws, scale.threads, progress=iter)
    pairs = list(product(experiment.learning_rates, experiment.periods))
    recipes = [[recipe(scale, *pair, run) for run in runs] for pair in pairs]
    folders = train_all(scale, data, recipes, "E-STABLE")
    rows = []
    for folder, ((rate, period), run) in zip(folders, product(pairs, runs), strict=True):
        row = json.loads((folder / "run.json").read_text())
        rows.append({"learning_rate": rate, "period": period, "max_eigenvalue": eigenvalues[run]} | row)
    return {"runs": pd.DataFrame(rows)[["learning_rate", "period", "max_eigenvalue", *COLUMNS]]}
