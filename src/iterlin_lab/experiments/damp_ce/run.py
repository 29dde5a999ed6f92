"""E-DAMPCE (T fig. 9 bottom, §4.3, §6): damped lazy problems with cross-entropy, solved before re-linearising."""

from iterlin_lab.experiments.damp_ce.settings import Scope
from iterlin_lab.runs.recipes import Damping, Recipe, solved_recipe


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every λ, and those with damping early alone and late alone."""
    own = scale.damp_ce
    switched, after = float(own.switch.damping), own.switch.after
    dampings: dict[str, Damping] = {label: float(label) for label in own.dampings}
    dampings |= {own.early: (switched, 0.0, after), own.late: (0.0, switched, after)}
    return {
        name: [solved_recipe(scale, run, own, damping) for run in range(own.num_seeds)]
        for name, damping in dampings.items()
    }
