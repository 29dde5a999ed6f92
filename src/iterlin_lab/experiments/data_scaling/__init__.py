"""E-DATA (T fig. 4): what each K makes of more training data."""

from iterlin_lab.experiments.data_scaling.settings import Scope, check
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="data_scaling",
    ids=("E-DATA",),
    scope=Scope,
    stage="train",
    order=140,
    argument="features",
    differs=(
        "T trains single runs on subsets of CIFAR-10. A rate that is seen on small n need not be the rate on large n, "
        "and draws of few images differ by more than what is claimed. A run that stops at a loss of 0.02 leaves K = 1 "
        "points yet to gain ([time](../../docs/validity.md#time))."
    ),
    claims_order=95,
    check=check,
    label="E-DATA, {}",
    compared=("data_scaling",),
)
