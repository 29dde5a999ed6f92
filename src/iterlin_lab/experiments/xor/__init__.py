"""E-XOR (T fig. 7): which features a small network learns, by iterative linearisation and by damped Gauss–Newton."""

from iterlin_lab.experiments.experiment import SMALL, Built, Cost, Experiment
from iterlin_lab.experiments.xor.settings import PURPOSE, Scope, check


def cost(scale: Scope) -> Cost:
    """It trains small networks in every cell of both dials."""
    own = scale.xor
    return Cost(len(own.periods) + len(own.dampings), own.num_seeds, own.runs_at_once, own.num_steps, step=SMALL)


def network(scale: Scope) -> Built:
    """The network of E-XOR, on points of the plane."""
    return Built("xor", scale.xor.net, (2,), 1)


EXPERIMENT = Experiment(
    name="xor",
    ids=("E-XOR",),
    scope=Scope,
    stage="toy",
    order=70,
    argument="features",
    differs=(
        "T states neither its width, nor its η, nor the size of its first weights. Where these start at their full "
        "He-normal size, features do not turn, whatever K or λ."
    ),
    check=check,
    purpose=PURPOSE,
    cost=cost,
    network=network,
)
