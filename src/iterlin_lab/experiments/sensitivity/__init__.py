"""Around the setting of E-SWEEP: some K by gradient descent with multiples of its learning rate."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.sensitivity.settings import Scope, check

EXPERIMENT = Experiment(
    name="sensitivity",
    ids=("E-SWEEP, around",),
    scope=Scope,
    stage="rescaled",
    order=30,
    check=check,
    label="K = {1}, η × {0}",
    group="η × {}",
    split=True,
    compared=("sensitivity",),
)
