"""Runs of E-SWEEP with a smaller tolerance. Nothing here imports jax."""

from iterlin_lab.experiments.finer_flow.settings import Scope
from iterlin_lab.runs.recipes import Recipe, learning_rate, make_recipe
from iterlin_lab.settings import parse_period


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every K, as in the sweep but for the tolerance."""
    finer, sweep, rate = scale.finer_flow, scale.k_sweep, learning_rate(scale)

    def recipe(period: str, run: int) -> Recipe:
        return make_recipe(
            scale,
            run,
            solver=sweep.solver.values() | {"tolerance": finer.tolerance},
            learning_rate=rate,
            num_steps=sweep.num_steps,
            first_record=sweep.first_record,
            period=parse_period(period),
        )

    return {period: [recipe(period, run) for run in range(finer.num_seeds)] for period in finer.periods}
