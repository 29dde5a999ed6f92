"""L-DECAY (L Lemma 1): the training loss along gradient flow, against the exponential bound."""

from iterlin_lab.experiments.decay.settings import Scope
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="decay",
    ids=("L-DECAY",),
    scope=Scope,
    stage="toy",
    order=180,
    argument="lecture",
    differs=(
        "The lemma holds for every flow whose smallest eigenvalue stays above its start; a network's own may fall "
        "below it."
    ),
    compared=("decay",),
)
