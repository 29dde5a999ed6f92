"""E-VIT: whether a transformer shows the sources' picture, with K = 1, large K and K = ∞, and how far its NTK moves."""

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.experiment import Built, Experiment
from iterlin_lab.experiments.vit.settings import Scope, check


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
    argument="updates",
    check=check,
    tabled=True,
    compared=("vit",),
    network=network,
)
