"""Runs of E-SWEEP's K by gradient descent with multiples of its learning rate. Nothing here imports jax."""

import math

from iterlin_lab.experiments.sensitivity.settings import Scope
from iterlin_lab.runs.recipes import Recipe, learning_rate, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The cells `factor/K`, for the same times ηK and ηt as in the sweep."""
    around, rate = scale.sensitivity, learning_rate(scale)

    def recipe(period: str, run: int, factor: float) -> Recipe:
        rescaled = [around.num_steps, scale.k_sweep.first_record, parse_period(period)]
        num_steps, first, K = (steps if math.isinf(steps) else max(1, round(steps / factor)) for steps in rescaled)
        return make_recipe(
            scale,
            run,
            solver={"name": "gradient_descent"},
            learning_rate=factor * rate,
            num_steps=num_steps,
            first_record=first,
            period=K,
        )

    return {
        f"{factor}/{period}": [recipe(period, run, float(factor)) for run in range(around.num_seeds)]
        for factor in around.factors
        for period in around.periods
    }
