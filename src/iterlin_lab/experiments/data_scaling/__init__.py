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
    claims_order=95,
    check=check,
    label="E-DATA, {}",
    compared=("data_scaling",),
)
