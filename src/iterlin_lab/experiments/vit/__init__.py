"""E-VIT: whether a transformer shows the sources' picture, with K = 1, large K and K = ∞, and how far its NTK moves."""

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.experiment import Built, Cost, Experiment
from iterlin_lab.experiments.vit.settings import Scope, check


def cost(scale: Scope) -> Cost:
    """It trains its network with every K."""
    own = scale.vit
    return Cost(len(own.periods), own.num_seeds, scale.runs_at_once, own.num_steps, lazy=True)


def network(scale: Scope) -> Built:
    """Its network, on the scale's data."""
    data = DATA_SETS[scale.data.name]
    return Built("vit.net", scale.vit.net.model_dump(), data.image_shape, data.num_classes)


EXPERIMENT = Experiment(
    name="vit",
    ids=("E-VIT",),
    scope=Scope,
    stage="train_net",
    order=107,
    check=check,
    cost=cost,
    compared=("vit",),
    network=network,
)
