"""E-BATCH (T fig. 11): full batches against mini-batches, aligned by equal times ηt and ηK."""

import math

from iterlin_lab.experiments.batches.settings import Scope
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """`full-K` and `mini-K`, both named by the K of the full batches."""
    experiment = scale.batches

    def recipe(period: str, run: int, batch_size: int | None, ratio: int) -> Recipe:
        K = parse_period(period)
        return make_recipe(
            scale,
            run,
            solver={"name": "gradient_descent"},
            learning_rate=experiment.learning_rate / ratio,
            num_steps=experiment.num_steps * ratio,
            first_record=ratio,
            # With K = 1 both are gradient descent.
            period=K if K == 1 or math.isinf(K) else K * ratio,
            fit_loss=None,  # all runs are read at the same time
            records_per_decade=experiment.records_per_decade,
            batch_size=batch_size,
        )

    ways = {"full": (None, 1), "mini": (experiment.batch_size, experiment.ratio)}
    return {
        f"{name}-{period}": [recipe(period, run, *way) for run in range(experiment.num_seeds)]
        for name, way in ways.items()
        for period in experiment.periods
    }
