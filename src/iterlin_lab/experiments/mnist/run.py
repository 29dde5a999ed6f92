"""E-MNIST (W fig. 1): full batches, for every K."""

from iterlin_lab.experiments.mnist.settings import Scope
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every K, on data of their own."""
    experiment = scale.mnist

    def recipe(period: str, run: int) -> Recipe:
        return make_recipe(
            scale,
            run,
            solver=experiment.solver.values(),
            learning_rate=experiment.learning_rate,
            num_steps=experiment.num_steps,
            period=parse_period(period),
            sizes=experiment.data.sizes,
            net=scale.net.model_copy(update={"initialisation": experiment.initialisation}),
            fit_loss=None,  # all runs are read at the same time
            records_per_decade=experiment.records_per_decade,
            batch_size=None,
        )

    return {period: [recipe(period, run) for run in range(experiment.num_seeds)] for period in experiment.periods}
