"""E-SWEEP (T fig. 3): from K = 1 (gradient descent) over K = ∞ (lazy training) to truncated Gauss–Newton."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.k_sweep.settings import Scope, check

EXPERIMENT = Experiment(
    name="k_sweep",
    ids=("E-SWEEP",),
    scope=Scope,
    stage="sweep",
    order=10,
    argument="updates",
    check=check,
    label="K = {}",
    group="K = {}",
    split=True,
    compared=("k_sweep",),
)
