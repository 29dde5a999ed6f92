"""E-BATCH (T fig. 11): full batches against mini-batches, aligned by equal times ηt and ηK."""

from iterlin_lab.experiments.batches.settings import Scope, check
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="batches",
    ids=("E-BATCH",),
    scope=Scope,
    stage="train",
    order=130,
    argument="updates",
    check=check,
    label="E-BATCH, {}",
    compared=("batches",),
)
