"""Runs of E-SWEEP: gradient descent, or its flow, for every K (T Algorithm 3). Nothing here imports jax."""

from iterlin_lab.experiments.k_sweep.settings import Scope
from iterlin_lab.runs.recipes import Recipe, learning_rate, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every K."""
    sweep, rate = scale.k_sweep, learning_rate(scale)

    def recipe(period: str, run: int) -> Recipe:
        return make_recipe(
            scale,
            run,
            solver=sweep.solver.values(),
            learning_rate=rate,
            num_steps=sweep.num_steps,
            first_record=sweep.first_record,
            period=parse_period(period),
        )

    return {period: [recipe(period, run) for run in range(sweep.num_seeds)] for period in sweep.periods}
