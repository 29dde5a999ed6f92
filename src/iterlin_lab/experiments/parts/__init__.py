"""E-PART: the last layers alone are trained, as many as each part says, with features that are learnt and with none."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.parts.settings import Scope, check

EXPERIMENT = Experiment(
    name="parts",
    ids=("E-PART",),
    scope=Scope,
    stage="train",
    order=145,
    argument="features",
    check=check,
    label="E-PART, {}",
    compared=("parts",),
)
