"""Around the setting of E-SWEEP: some K with other learning rates, and from another initialisation."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.sensitivity.settings import Scope, check

EXPERIMENT = Experiment(
    name="sensitivity",
    ids=("E-SWEEP, around",),
    scope=Scope,
    stage="rescaled",
    order=30,
    argument="updates",
    check=check,
    label="K = {1}, around: {0}",
    group="around: {}",
    split=True,
    compared=("sensitivity",),
)
