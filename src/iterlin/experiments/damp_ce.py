"""E-DAMPCE (T fig. 9 bottom, §4.3): damped lazy problems with cross-entropy, solved before re-linearising."""

from iterlin.config import Scale
from iterlin.experiments.recipe import Recipe, solved_recipe


def recipe(scale: Scale, damping: str, run: int) -> Recipe:
    """Run number `run` of the cell λ = `damping`."""
    return solved_recipe(scale, run, scale.damp_ce, float(damping))
