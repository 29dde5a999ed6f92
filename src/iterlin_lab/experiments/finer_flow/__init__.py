"""B-FLOW, again: some runs of E-SWEEP with a smaller tolerance, to see what its verdicts owe to the flow's error."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.finer_flow.settings import Scope, check

EXPERIMENT = Experiment(
    name="finer_flow",
    ids=("B-FLOW, again",),
    scope=Scope,
    stage="finer",
    order=210,
    argument="instrument",
    check=check,
    label="K = {}, finer flow",
)
