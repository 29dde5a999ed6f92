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
    differs=(
        "T's network has 50 channels, and photographs. Where images are simple, the layers of an untrained network "
        "serve a probe well already, and training has less to add."
    ),
    needs=("activations",),
)
