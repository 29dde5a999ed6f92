"""Runs of E-RESNET: the panels of T fig. 10, and a grid of norms, η and K. Nothing here imports jax."""

from itertools import product
from typing import Any

from iterlin_lab.experiments.resnet.settings import Scope, network
from iterlin_lab.nets.resnet import Norm
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """`plain-K` and `normalised-K`, and `norm-η-K` of the grid. A run has the same data in all cells of one seed."""
    own, found = scale.resnet, {}
    for name, panel in own.panels.items():
        settings = panel.model_dump(exclude={"norm", "periods"}) | {"records_per_decade": own.records_per_decade}
        for period in panel.periods:
            found[f"{name}-{period}"] = _cell(scale, panel.norm, period, settings)
    grid = own.grid
    for norm, rate, period in product(grid.norms, grid.learning_rates, grid.periods):
        settings = grid.model_dump(include={"seed", "num_steps", "batch_size"}) | {"learning_rate": rate}
        settings["records_per_decade"] = 1  # how a run ends is all that is read
        found[f"{norm}-{rate:g}-{period}"] = _cell(scale, norm, period, settings)
    return found


def _cell(scale: Scope, norm: Norm, period: str, settings: dict[str, Any]) -> list[Recipe]:
    """Gradient descent for all these steps, whether the training set is fitted before or not."""
    settings |= {"solver": {"name": "gradient_descent"}, "fit_loss": None}
    period_and_net = {"period": parse_period(period), "net": network(scale, norm)}
    return [make_recipe(scale, run, **period_and_net, **settings) for run in range(scale.resnet.num_seeds)]
