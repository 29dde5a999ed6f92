"""E-ADAM (T fig. 8, §4.3): lazy problems that are solved before the network is re-linearised, against K = 1."""

from iterlin_lab.experiments.adam.settings import Scope, check
from iterlin_lab.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="adam",
    ids=("E-ADAM",),
    scope=Scope,
    stage="train",
    order=50,
    argument="damping",
    differs=(
        "T has one run of each kind, without its η. Cross-entropy has no minimiser where the proxy separates the "
        "classes: how far a phase moves the network depends on when its problem counts as solved. "
        "With a tolerance β of 10⁻⁵ the rounding of another processor moves single runs of truncated Gauss–Newton by "
        "up to two points on digits: a verdict on them is that of one draw."
    ),
    check=check,
    label="E-ADAM, {}",
    compared=("adam",),
)
