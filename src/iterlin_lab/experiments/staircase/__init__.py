"""L-KRR (L theorem 1): the test error of kernel ridge regression on the sphere, against log n / log d."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.staircase.settings import Scope

EXPERIMENT = Experiment(
    name="staircase",
    ids=("L-KRR",),
    scope=Scope,
    stage="toy",
    order=160,
    argument="lecture",
    differs="The theorem is about d → ∞. At finite d steps are rounded, so that plateaus are not flat.",
    compared=("staircase",),
)
