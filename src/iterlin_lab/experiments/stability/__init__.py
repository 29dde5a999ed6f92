"""E-STABLE (W fig. 1 and 2): which learning rates and periods diverge."""

from iterlin_lab.experiments.experiment import Cost, Experiment
from iterlin_lab.experiments.stability.settings import Scope, check


def cost(scale: Scope) -> Cost:
    """It trains every pair of η and K from two initialisations, and SGD."""
    own, other = scale.stability, scale.stability.other
    pairs = len(own.learning_rates) * len(own.periods) + len(other.learning_rates) * len(other.periods)
    return Cost(pairs + 1, own.num_seeds, scale.runs_at_once, own.num_steps, lazy=True)


EXPERIMENT = Experiment(
    name="stability",
    ids=("E-STABLE",),
    scope=Scope,
    stage="train",
    order=90,
    argument="divergence",
    differs=(
        "W saw single runs at two η. An η is stable or not by its product with the sharpness λ_max, which the start, "
        "the images and the loss decide: W's numbers mean something else on other networks. At the edge of stability "
        "the rounding of another processor decides how a single run ends: claims on divergence are about most draws."
    ),
    check=check,
    cost=cost,
)
