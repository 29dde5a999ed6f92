"""Runs of E-PART: every K, on the last layers alone and on all. Nothing here imports jax."""

from iterlin_lab.experiments.parts.settings import Scope, counts
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """`count-K`, for so many of the last layers. A run has the same data and initial network in all of them."""
    experiment, num_layers = scale.parts, scale.net.num_layers

    def recipe(count: int, period: str, run: int) -> Recipe:
        return make_recipe(
            scale,
            run,
            seed=experiment.seed,
            solver=experiment.solver.values(),
            learning_rate=experiment.learning_rate,
            num_steps=experiment.num_steps,
            first_record=experiment.first_record,
            period=parse_period(period),
            records_per_decade=experiment.records_per_decade,
            layers=list(range(num_layers - count, num_layers)),
        )

    return {
        f"{count}-{period}": [recipe(count, period, run) for run in range(experiment.num_seeds)]
        for count in counts(scale)
        for period in experiment.periods
    }
