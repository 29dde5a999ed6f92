"""E-QUAD: how far a phase of the linear and of the quadratic expansion follows the network, along E-SWEEP's K."""

from collections.abc import Iterable

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.quadratic.settings import Scope, check
from iterlin_lab.runs.recipes import Recipe


def trains(scale: Scope) -> Iterable[list[Recipe]]:
    """The network, and each expansion of it."""
    from iterlin_lab.experiments.quadratic.run import recipes

    return recipes(scale).values()


EXPERIMENT = Experiment(
    name="quadratic",
    ids=("E-QUAD",),
    scope=Scope,
    stage="train",
    order=67,
    check=check,
    trains=trains,
    compared=("quadratic",),
)
