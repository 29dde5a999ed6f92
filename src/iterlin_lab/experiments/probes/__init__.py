"""E-PROBE (T fig. 5): linear probes of the networks along E-AUG."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.probes.settings import Scope

EXPERIMENT = Experiment(
    name="probes",
    ids=("E-PROBE",),
    scope=Scope,
    stage="measure",
    order=110,
    argument="features",
    needs=("activations",),
)
