"""E-ADAPT: schedules that re-linearise when the expansion has become wrong, beside fixed K (B-ADAPT)."""

from iterlin_lab.experiments.adapt.settings import Scope, check
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="adapt",
    ids=("E-ADAPT",),
    scope=Scope,
    stage="train",
    order=65,
    argument="updates",
    check=check,
    label="E-ADAPT, {}",
    compared=("adapt",),
)
