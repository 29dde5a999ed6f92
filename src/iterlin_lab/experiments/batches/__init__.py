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
    differs=(
        "T's batches are 256 of some 50 000 images. A batch that is a larger part of its images has a gradient with "
        "less noise."
    ),
    check=check,
    label="E-BATCH, {}",
    compared=("batches",),
)
