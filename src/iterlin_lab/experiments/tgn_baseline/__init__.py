"""The end of E-SWEEP (T §4.1): truncated Gauss–Newton, each lazy problem solved to a certificate."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.tgn_baseline.settings import Scope

EXPERIMENT = Experiment(
    name="tgn_baseline",
    ids=("TGN",),
    scope=Scope,
    stage="train",
    order=20,
    label="TGN",
)
