"""E-WIDTH: E-SWEEP with narrow and wide networks. Does what features bring depend on width, as laziness does?"""

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.experiment import Built, Experiment
from iterlin_lab.experiments.width.settings import Scope, check, with_channels


def network(scale: Scope) -> Built:
    """The widest network, on the scale's data."""
    data, widest = DATA_SETS[scale.data.name], with_channels(scale.net, max(scale.width.channels))
    return Built("width.channels", widest.model_dump(), data.image_shape, data.num_classes)


EXPERIMENT = Experiment(
    name="width",
    ids=("E-WIDTH",),
    scope=Scope,
    stage="train",
    order=35,
    argument="updates",
    differs=(
        "T has 50 channels alone, and all of CIFAR-10. On other images, and fewer of them, its picture may change for "
        "reasons that are not width."
    ),
    check=check,
    tabled=True,
    compared=("width",),
    network=network,
)
