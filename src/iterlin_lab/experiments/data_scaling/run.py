"""E-DATA (T fig. 4): what each K makes of more training data."""

from iterlin_lab.experiments.data_scaling.settings import Scope
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period

CONTROL = "control"  # K = 1 with another learning rate


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """`n-K` and `n-control`, for training sets of n examples."""
    experiment = scale.data_scaling

    def recipe(size: int, period: str, run: int) -> Recipe:
        explicit = {CONTROL, "inf"} if experiment.solver.flow_tolerance is None else {CONTROL}  # T fig. 4
        settings = experiment.control if period in explicit else experiment
        return make_recipe(
            scale,
            run,
            solver={"name": "gradient_descent"} if period == CONTROL else experiment.solver.values(),
            learning_rate=settings.learning_rate,
            num_steps=settings.num_steps,
            first_record=max(1, round(experiment.first_record * experiment.learning_rate / settings.learning_rate)),
            period=1 if period == CONTROL else parse_period(period),
            sizes=experiment.splits(size),
        )

    return {
        f"{size}-{period}": [recipe(size, period, run) for run in range(experiment.num_seeds)]
        for size in experiment.sizes
        for period in (*experiment.periods, CONTROL)
    }
