"""E-RESNET (T fig. 10): a ResNet with BatchNorm and without, for K = 1 and a large K, and which of them diverge."""

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.experiment import Built, Experiment
from iterlin_lab.experiments.resnet.settings import Scope, check, network


def built(scale: Scope) -> Built:
    """Its network with BatchNorm, on the scale's data."""
    data = DATA_SETS[scale.data.name]
    return Built("resnet", network(scale, "batch").model_dump(), data.image_shape, data.num_classes)


EXPERIMENT = Experiment(
    name="resnet",
    ids=("E-RESNET",),
    scope=Scope,
    stage="train_net",
    order=105,
    argument="divergence",
    differs=(
        "T's ResNet-18 is wider and deeper, and has its η for CIFAR-10. Which η is stable depends on the sharpness, "
        "and how BatchNorm and the expansion get on depends on the size of a batch. At the edge of stability the "
        "rounding of another processor decides how a single run of the grid ends: its claims are about most draws."
    ),
    check=check,
    label="E-RESNET, {}",
    compared=("resnet",),
    network=built,
)
