"""E-AUG (T fig. 2): augmented mini-batches, K = 1 against a large K. Its networks along training are kept."""

from iterlin_lab.experiments.augmentation.settings import Scope
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every K."""
    experiment = scale.augmentation

    def recipe(period: str, run: int) -> Recipe:
        return make_recipe(
            scale,
            run,
            solver={"name": "gradient_descent"},
            learning_rate=experiment.learning_rate,
            num_steps=experiment.num_steps,
            period=parse_period(period),
            augmentation=experiment.augmentation,
            snapshots=True,
            fit_loss=None,  # all runs are read at the same time
            batch_size=experiment.batch_size,
            records_per_decade=experiment.records_per_decade,
        )

    return {period: [recipe(period, run) for run in range(experiment.num_seeds)] for period in experiment.periods}
