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
    differs=(
        "T trains on all of CIFAR-10 until convergence, a run for each K, in batches that it does not state. Fewer "
        "images are fitted in fewer steps, so that one K is a larger part of training. A run stops here once it fits. "
        "At a loss of 0.02 K = 1 has points yet to gain, while phases of a large K go on beyond it "
        "([time](../../docs/validity.md#time)). How far truncated Gauss–Newton moves a network depends on its "
        "tolerance β, which T does not state."
    ),
    check=check,
    label="K = {}",
    group="K = {}",
    split=True,
    compared=("k_sweep",),
)
