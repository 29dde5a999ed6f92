"""E-DAMPCE (T fig. 9 bottom, §4.3, §6): damped lazy problems with cross-entropy, solved before re-linearising."""

from iterlin_lab.experiments.damp_ce.settings import Scope, check
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="damp_ce",
    ids=("E-DAMPCE",),
    scope=Scope,
    stage="train",
    order=60,
    argument="damping",
    check=check,
    label="E-DAMPCE, λ = {}",
    compared=("damp_ce",),
)
