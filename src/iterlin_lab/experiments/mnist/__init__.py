"""E-MNIST (W fig. 1): full batches, for every K."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.mnist.settings import Scope

EXPERIMENT = Experiment(
    name="mnist",
    ids=("E-MNIST",),
    scope=Scope,
    stage="train_own",
    order=80,
    argument="updates",
    differs=(
        "W trains on all of MNIST, with an η that its figure does not assign to it, and a loss that seems to be a sum "
        "over images. Whether K = 1000 is a long phase depends on ηK and on how soon the images are fitted."
    ),
    label="E-MNIST, K = {}",
    own_data=True,
    compared=("mnist",),
)
