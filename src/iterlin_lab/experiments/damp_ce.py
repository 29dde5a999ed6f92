"""E-DAMPCE (T fig. 9 bottom, §4.3): damped lazy problems with cross-entropy, solved before re-linearising."""

from iterlin_lab.config import Scale
from iterlin_lab.experiments.recipe import Recipe, solved_recipe


def cells(scale: Scale) -> dict[str, list[Recipe]]:
    """The runs of every λ."""
    experiment = scale.damp_ce
    return {
        damping: [solved_recipe(scale, run, experiment, float(damping)) for run in range(experiment.num_seeds)]
        for damping in experiment.dampings
    }
