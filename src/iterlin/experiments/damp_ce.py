"""E-DAMPCE (T fig. 9 bottom, §4.3): damped lazy problems with cross-entropy, solved before re-linearising."""

from iterlin.config import Scale
from iterlin.experiments.recipe import Recipe, make_recipe


def recipe(scale: Scale, damping: str, run: int) -> Recipe:
    """Run number `run` of the cell λ = `damping`. Full batches: a gradient of part of the data certifies nothing."""
    experiment = scale.damp_ce
    solver = experiment.solver.model_dump()
    tolerance, learning_rate = solver["tolerance"], solver.pop("learning_rate", None)
    if learning_rate is not None:  # Adam itself has no tolerance, its schedule has
        del solver["tolerance"]
    return make_recipe(
        scale,
        run,
        solver=solver,
        learning_rate=learning_rate,
        num_steps=experiment.num_steps,
        tolerance=tolerance,
        damping=float(damping),
        records_per_decade=experiment.records_per_decade,
        batch_size=None,
    )
