"""E-ADAM (T fig. 8, §4.3): lazy problems that are solved before the network is re-linearised, against K = 1."""

from iterlin_lab.experiments.adam.settings import Scope, Tuned
from iterlin_lab.runs.recipes import Recipe, make_recipe, solved_recipe
from iterlin_lab.settings import parse_period
from iterlin_lab.settings.solved import Solved
from iterlin_lab.settings.solvers import Truncated


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of `scale.adam.cells`."""
    own = scale.adam
    found = _of_one(scale, "descent", own.descent, "gradient_descent")
    found |= _of_one(scale, "gradient", own.gradient, "adam")  # T fig. 8, dotted
    for cell, at_feature_update in (("solved", "reset"), ("kept", "keep")):
        found[cell] = [_solved(scale, run, at_feature_update) for run in range(own.num_seeds)]
    for tolerance in own.truncated.tolerances:
        found[f"truncated-{tolerance}"] = [_truncated(scale, run, float(tolerance)) for run in range(own.num_seeds)]
    return found


def _of_one(scale: Scope, name: str, tuned: Tuned, solver: str) -> dict[str, list[Recipe]]:
    """Steps on the network itself, K = 1, for every η."""

    def recipe(rate: float, run: int) -> Recipe:
        num_steps = tuned.num_steps
        return make_recipe(scale, run, solver={"name": solver}, learning_rate=rate, num_steps=num_steps, period=1)

    runs = range(scale.adam.num_seeds)
    return {cell: [recipe(rate, run) for run in runs] for cell, rate in tuned.cells(name).items()}


def _solved(scale: Scope, run: int, at_feature_update: str) -> Recipe:
    """Adam on every lazy problem for a constant, large K (T fig. 8)."""
    solved = scale.adam.solved
    return make_recipe(
        scale,
        run,
        solver={"name": "adam", "at_feature_update": at_feature_update},
        learning_rate=solved.learning_rate,
        num_steps=solved.num_steps,
        first_record=solved.first_record,
        period=parse_period(solved.period),
        records_per_decade=scale.adam.records_per_decade,
    )


def _truncated(scale: Scope, run: int, tolerance: float) -> Recipe:
    """Every lazy problem is solved to a certificate, by Newton's method."""
    settings = scale.adam
    solved = Solved(
        solver=Truncated(name="truncated", tolerance=tolerance),
        num_steps=settings.truncated.num_steps,
        records_per_decade=settings.records_per_decade,
        num_seeds=settings.num_seeds,
    )
    return solved_recipe(scale, run, solved)
