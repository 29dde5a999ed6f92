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
    differs=(
        "T solves damped problems with Adam, and lists no λ. The same λ weighs more or less against the loss of other "
        "images, so that trends can be compared, and single λ cannot. The rounding of another processor moves single "
        "runs without damping by up to two points on digits."
    ),
    check=check,
    label="E-DAMPCE, λ = {}",
    compared=("damp_ce",),
)
