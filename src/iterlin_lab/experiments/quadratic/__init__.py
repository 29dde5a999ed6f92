"""E-QUAD: how far a phase of the linear and of the quadratic expansion follows the network, along E-SWEEP's K."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.quadratic.settings import Scope, check

EXPERIMENT = Experiment(
    name="quadratic",
    ids=("E-QUAD",),
    scope=Scope,
    stage="train",
    order=67,
    argument="comparison",
    check=check,
    tabled=True,
    compared=("quadratic",),
)
