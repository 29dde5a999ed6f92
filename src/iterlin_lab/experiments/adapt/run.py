"""Runs of E-ADAPT: fixed K and schedules, by a flow; and explicit steps on a grid of η. Nothing here imports jax."""

from typing import Any

from iterlin_lab.experiments.adapt.settings import Scope
from iterlin_lab.nets.contract import Network
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """`K`, names of schedules and `damped`; `grid-η-K`, and `grid-η-watching`. A run has one draw in all of them."""
    own, grid = scale.adapt, scale.adapt.grid
    found = {period: by_flow(scale, period=parse_period(period)) for period in own.periods}
    found |= {name: by_flow(scale, schedule=schedule.model_dump()) for name, schedule in own.schedules.items()}
    found["damped"] = by_damping(scale)
    for rate in grid.learning_rates:
        for period in grid.periods:
            found[f"grid-{rate:g}-{period}"] = by_steps(scale, rate, period=parse_period(period))
        found[f"grid-{rate:g}-watching"] = by_steps(scale, rate, schedule=grid.watching.model_dump())
    return found


def by_flow(scale: Scope, **when: Any) -> list[Recipe]:
    """Runs until the training set is fitted."""
    own = scale.adapt
    return runs(
        scale,
        net=_net(scale),
        solver=own.solver.values(),
        learning_rate=own.learning_rate,
        num_steps=own.num_steps,
        first_record=own.first_record,
        **when,
    )


def by_damping(scale: Scope) -> list[Recipe]:
    """Runs of truncated Gauss–Newton whose λ adapts, until the training set is fitted."""
    own = scale.adapt.damped
    return runs(
        scale,
        net=_net(scale),
        solver=own.solver.values(),
        learning_rate=own.solver.own_rate,
        num_steps=own.num_steps,
        records_per_decade=own.records_per_decade,
        tolerance=own.solver.tolerance,
        damping=own.damping,
        damping_change=own.change,
        batch_size=None,
    )


def by_steps(scale: Scope, learning_rate: float, **when: Any) -> list[Recipe]:
    """Runs for all steps: one that has fitted may diverge yet."""
    return runs(
        scale,
        solver={"name": "gradient_descent"},
        learning_rate=learning_rate,
        num_steps=scale.adapt.grid.num_steps,
        fit_loss=None,
        batch_size=None,
        **when,
    )


def _net(scale: Scope) -> Network:
    return scale.net.model_copy(update={"initialisation": scale.adapt.initialisation})


def runs(scale: Scope, **settings: Any) -> list[Recipe]:
    """A run a draw."""
    own = scale.adapt
    shared: dict[str, Any] = {"seed": own.seed, "records_per_decade": own.records_per_decade}
    return [make_recipe(scale, run, **(shared | settings)) for run in range(own.num_seeds)]
