"""Runs of E-SWEEP's K with another learning rate, or from another initialisation. Nothing here imports jax."""

import math

from iterlin_lab.experiments.sensitivity.settings import INITIALISATIONS, Scope
from iterlin_lab.runs.recipes import Recipe, learning_rate, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The cells `variant/K`."""
    around = scale.sensitivity
    return {
        f"{variant}/{period}": [
            (_redrawn if variant in INITIALISATIONS else _rescaled)(scale, variant, period, run)
            for run in range(around.num_seeds)
        ]
        for variant in around.variants
        for period in around.periods
    }


def _rescaled(scale: Scope, factor: str, period: str, run: int) -> Recipe:
    """Gradient descent with a multiple of η, for the same times ηK and ηt as in the sweep."""
    steps = [scale.sensitivity.num_steps, scale.k_sweep.first_record, parse_period(period)]
    num_steps, first, K = (each if math.isinf(each) else max(1, round(each / float(factor))) for each in steps)
    rate = float(factor) * learning_rate(scale)
    return make_recipe(
        scale,
        run,
        solver={"name": "gradient_descent"},
        learning_rate=rate,
        num_steps=num_steps,
        first_record=first,
        period=K,
    )


def _redrawn(scale: Scope, initialisation: str, period: str, run: int) -> Recipe:
    """As in the sweep, from another initialisation."""
    return make_recipe(
        scale,
        run,
        solver=scale.k_sweep.solver.values(),
        learning_rate=learning_rate(scale),
        num_steps=scale.sensitivity.num_steps,
        first_record=scale.k_sweep.first_record,
        period=parse_period(period),
        net=scale.net.model_copy(update={"initialisation": initialisation}),
    )
