"""E-ADAM (T fig. 8, §4.3): lazy problems that are solved before the network is re-linearised, against K = 1."""

from iterlin_lab.experiments.adam.settings import Scope
from iterlin_lab.runs.recipes import Recipe, make_recipe, solved_recipe
from iterlin_lab.settings import parse_period
from iterlin_lab.settings.solved import Solved
from iterlin_lab.settings.solvers import Truncated


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of `scale.adam.cells`."""
    makers = {"gradient": _gradient, "solved": _solved}
    return {
        cell: [makers.get(cell, _truncated)(scale, cell, run) for run in range(scale.adam.num_seeds)]
        for cell in scale.adam.cells
    }


def _gradient(scale: Scope, cell: str, run: int) -> Recipe:
    """Adam on the network itself, K = 1 (T fig. 8, dotted)."""
    gradient = scale.adam.gradient
    rate, num_steps = gradient.learning_rate, gradient.num_steps
    return make_recipe(scale, run, solver={"name": "adam"}, learning_rate=rate, num_steps=num_steps, period=1)


def _solved(scale: Scope, cell: str, run: int) -> Recipe:
    """Adam on every lazy problem for a constant, large K (T fig. 8)."""
    solved = scale.adam.solved
    return make_recipe(
        scale,
        run,
        solver={"name": "adam"},
        learning_rate=solved.learning_rate,
        num_steps=solved.num_steps,
        first_record=solved.first_record,
        period=parse_period(solved.period),
        records_per_decade=scale.adam.records_per_decade,
    )


def _truncated(scale: Scope, cell: str, run: int) -> Recipe:
    """Every lazy problem is solved to a certificate, by Newton's method."""
    settings = scale.adam
    solved = Solved(
        solver=Truncated(name="truncated", tolerance=float(cell.removeprefix("truncated-"))),
        num_steps=settings.truncated.num_steps,
        records_per_decade=settings.records_per_decade,
        num_seeds=settings.num_seeds,
    )
    return solved_recipe(scale, run, solved)
