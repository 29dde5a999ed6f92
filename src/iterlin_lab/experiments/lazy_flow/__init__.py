"""L-LAZY (L Theorem 3): the flow of a two-layer network against the flow of its linearisation, over its width and γ."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.lazy_flow.settings import Scope

EXPERIMENT = Experiment(
    name="lazy_flow",
    ids=("L-LAZY",),
    scope=Scope,
    stage="toy",
    order=170,
    argument="lecture",
    differs="The theorem is an upper bound for N → ∞. At finite N further terms bend a line in log N.",
    compared=("lazy_flow_fits",),
)
