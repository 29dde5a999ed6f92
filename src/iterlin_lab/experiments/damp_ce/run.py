"""E-DAMPCE (T fig. 9 bottom, §4.3): damped lazy problems with cross-entropy, solved before re-linearising."""

from iterlin_lab.experiments.damp_ce.settings import Scope
from iterlin_lab.runs.recipes import Recipe, solved_recipe


def cells(scale: Scope) -> dict[str, list[Recipe]]:
    """The runs of every λ."""
    experiment = scale.damp_ce
    return {
        damping: [solved_recipe(scale, run, experiment, float(damping)) for run in range(experiment.num_seeds)]
        for damping in experiment.dampings
    }
