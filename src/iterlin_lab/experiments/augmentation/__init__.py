"""E-AUG (T fig. 2): augmented mini-batches, K = 1 against a large K. Its networks along training are kept."""

from iterlin_lab.experiments.augmentation.settings import Scope, check
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="augmentation",
    ids=("E-AUG",),
    scope=Scope,
    stage="train",
    order=100,
    argument="updates",
    differs=(
        "T has K = 5·10⁶, with which a lazy problem levels off. Where K is smaller, phases may end before that, and "
        "each of them is then a smaller part of training."
    ),
    check=check,
    label="E-AUG, K = {}",
)
