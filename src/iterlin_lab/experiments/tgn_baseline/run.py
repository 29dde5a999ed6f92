"""Runs of truncated Gauss–Newton (T §4.1). Nothing here imports jax."""

from iterlin_lab.experiments.tgn_baseline.settings import Scope
from iterlin_lab.runs.recipes import Recipe, solved_recipe


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """One cell."""
    solved = scale.tgn_baseline
    return {"tgn": [solved_recipe(scale, run, solved) for run in range(solved.num_seeds)]}
