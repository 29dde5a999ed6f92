"""Runs of E-RESNET: the panels of T fig. 10, and a grid of norms, η and K. Nothing here imports jax."""

from itertools import product
from typing import Any

from iterlin_lab.experiments.resnet.settings import Scope, network
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """`plain-K` and `normalised-K`, and `norm-η-K` of the grid. A run has the same data in all of them."""
    own, found = scale.resnet, {}
    for name, panel in own.panels.items():
        for period in panel.periods:
            settings = panel.model_dump(exclude={"norm", "periods"})
            found[f"{name}-{period}"] = _cell(scale, panel.norm, period, settings)
    grid = own.grid
    for norm, rate, period in product(grid.norms, grid.learning_rates, grid.periods):
        settings = {"learning_rate": rate, "num_steps": grid.num_steps, "batch_size": grid.batch_size}
        found[f"{norm}-{rate:g}-{period}"] = _cell(scale, norm, period, settings)
    return found


def _cell(scale: Scope, norm: Any, period: str, settings: dict[str, Any]) -> list[Recipe]:
    """Gradient descent for all these steps, whether the training set is fitted before or not."""

    def recipe(run: int) -> Recipe:
        made = make_recipe(
            scale,
            run,
            solver={"name": "gradient_descent"},
            period=parse_period(period),
            net=network(scale, norm),
            fit_loss=None,
            records_per_decade=scale.resnet.records_per_decade,
            **settings,
        )
        return made._replace(seed=scale.resnet.seed)

    return [recipe(run) for run in range(scale.resnet.num_seeds)]
