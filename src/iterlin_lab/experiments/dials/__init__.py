"""E-DIALS: K, λ, the output scale α, width and η on one map, by how far each lets the tangent kernel move."""

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.dials.settings import Scope, check
from iterlin_lab.experiments.experiment import Built, Experiment


def network(scale: Scope) -> Built:
    """The widest network, on the scale's data."""
    own, data = scale.dials, DATA_SETS[scale.data.name]
    widest = scale.net.widened(max(map(float, own.widths)))
    return Built("dials.widths", widest.model_dump(), data.image_shape, data.num_classes)


EXPERIMENT = Experiment(
    name="dials",
    ids=("E-DIALS",),
    scope=Scope,
    stage="train",
    order=66,
    argument="comparison",
    check=check,
    tabled=True,
    compared=("dials",),
    network=network,
)
