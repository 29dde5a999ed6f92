"""E-DAMP1D (T fig. 9, top and centre): damped Gauss–Newton on a quintic, over λ and step sizes, with many seeds."""

from iterlin_lab.experiments.damp1d.settings import PURPOSE, Scope
from iterlin_lab.experiments.experiment import SMALL, Built, Cost, Experiment


def cost(scale: Scope) -> Cost:
    """It trains small networks with every way to damp, those with fewer layers for fewer seeds than all."""
    own = scale.damp1d
    ways = 1 + len(own.dampings) + len(own.step_sizes) + len(own.shallower.dampings)
    return Cost(ways, own.num_seeds, own.runs_at_once, own.num_steps, step=SMALL)


def network(scale: Scope) -> Built:
    """The network of E-DAMP1D, a function of one number."""
    return Built("damp1d.net", scale.damp1d.net.model_dump(), (1,), 1)


EXPERIMENT = Experiment(
    name="damp1d",
    ids=("E-DAMP1D",),
    scope=Scope,
    stage="toy",
    order=40,
    argument="damping",
    differs=(
        "T states neither how its networks start nor how many runs its figure leaves out. Both decide which runs a "
        "mean is over."
    ),
    purpose=PURPOSE,
    cost=cost,
    network=network,
)
