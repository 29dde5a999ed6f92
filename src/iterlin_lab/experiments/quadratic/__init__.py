"""E-QUAD: how far a phase of the linear and of the quadratic expansion follows the network, along E-SWEEP's K."""

from iterlin_lab.experiments.experiment import Cost, Experiment
from iterlin_lab.experiments.quadratic.settings import Scope, check


def cost(scale: Scope) -> Cost:
    """The network, and each expansion of it."""
    own = scale.quadratic
    return Cost(1 + len(own.orders), own.num_seeds, scale.runs_at_once, own.num_steps, lazy=True)


EXPERIMENT = Experiment(
    name="quadratic",
    ids=("E-QUAD",),
    scope=Scope,
    stage="train",
    order=67,
    check=check,
    cost=cost,
    compared=("quadratic",),
)
