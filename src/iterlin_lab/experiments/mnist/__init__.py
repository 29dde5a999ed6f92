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
    label="E-MNIST, K = {}",
    own_data=True,
    compared=("mnist",),
)
