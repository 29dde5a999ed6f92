"""E-STABLE (W fig. 1 and 2): which learning rates and periods diverge."""

import json
from itertools import chain, product
from pathlib import Path

import pandas as pd

from iterlin_lab.config import Scale
from iterlin_lab.experiments.recipe import Recipe, make_recipe
from iterlin_lab.memory import limit_workers
from iterlin_lab.runtime import counted, run_side_by_side
from iterlin_lab.settings import parse_period

TRAIN = "iterlin_lab.experiments.training_run:run_kept"
MAX_EIGENVALUE = "iterlin_lab.experiments.training_run:max_eigenvalue"
KEPT = ["run", "outcome", "steps", "last_finite_step", "eta_lambda_max_at_divergence", "network_final"]


def recipe(scale: Scale, learning_rate: float, period: str, run: int) -> Recipe:
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


def stability(scale: Scale, data: Path) -> pd.DataFrame:
    """A row a run: η, K, how it ended, and λ_max of its GGN at initialisation."""
    experiment, net, sizes = scale.stability, scale.net.model_dump(), scale.data.sizes
    limit_workers(scale)
    runs = range(experiment.num_seeds)
    draws = [(scale.seed, run, "result", net, sizes, data) for run in runs]
    eigenvalues = run_side_by_side(MAX_EIGENVALUE, draws, scale.threads, progress=iter)
    settings = list(product(experiment.learning_rates, experiment.periods))
    tasks = [
        ([recipe(scale, *setting, run) for run in runs[start : start + scale.runs_at_once]], data)
        for setting in settings
        for start in range(0, len(runs), scale.runs_at_once)
    ]
    progress = counted("E-STABLE", "run", len(settings) * len(runs), of=len)
    folders = list(chain.from_iterable(run_side_by_side(TRAIN, tasks, scale.threads, progress)))
    rows = []
    for folder, ((rate, period), run) in zip(folders, product(settings, runs), strict=True):
        row = json.loads((folder / "run.json").read_text())
        rows.append({"learning_rate": rate, "period": period, "max_eigenvalue": eigenvalues[run]} | row)
    return pd.DataFrame(rows)[["learning_rate", "period", "max_eigenvalue", *KEPT]]
