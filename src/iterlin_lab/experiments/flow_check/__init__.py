"""B-FLOW: gradient flow against the explicit steps that it stands for, where these can be run."""

from iterlin_lab.experiments.experiment import Cost, Experiment
from iterlin_lab.experiments.flow_check.settings import Scope, check


def cost(scale: Scope) -> Cost:
    """The explicit steps with η and η/2, and what each flow takes at most; of the network and of its proxy."""
    own = scale.flow_check
    steps = (3 + len(own.tolerances)) * own.num_steps
    return Cost(2 * len(own.learning_rates), own.num_seeds, 1, steps)


EXPERIMENT = Experiment(
    name="flow_check",
    ids=("B-FLOW",),
    scope=Scope,
    stage="train",
    order=200,
    argument="instrument",
    check=check,
    cost=cost,
)
