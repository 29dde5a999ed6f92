"""E-SWEEP (T fig. 3): from K = 1 (gradient descent) over K = ∞ (lazy training) to truncated Gauss–Newton."""

import math

from iterlin_lab.config import Scale
from iterlin_lab.experiments.recipe import Recipe, make_recipe, solved_recipe
from iterlin_lab.settings import parse_period

TGN = "tgn"


def recipe(scale: Scale, learning_rate: float, period: str, run: int) -> Recipe:
    """Run number `run` of the cell K = `period`: gradient descent or its flow (T Algorithm 3)."""
    sweep = scale.k_sweep
    return make_recipe(
        scale,
        run,
        solver=sweep.solver.model_dump(),
        learning_rate=learning_rate,
        num_steps=sweep.num_steps,
        first_record=sweep.first_record,
        period=parse_period(period),
    )


def rescaled_recipe(scale: Scale, learning_rate: float, period: str, run: int, factor: float) -> Recipe:
    """The same by gradient descent with the learning rate times `factor`, for the same times ηK and ηt."""
    rescaled = [scale.sensitivity.num_steps, scale.k_sweep.first_record, parse_period(period)]
    num_steps, first, K = (steps if math.isinf(steps) else max(1, round(steps / factor)) for steps in rescaled)
    return make_recipe(
        scale,
        run,
        solver={"name": "gradient_descent"},
        learning_rate=factor * learning_rate,
        num_steps=num_steps,
        first_record=first,
        period=K,
    )


def tgn_recipe(scale: Scale, run: int) -> Recipe:
    """Run number `run` of truncated Gauss–Newton (T §4.1)."""
    return solved_recipe(scale, run, scale.tgn_baseline)
