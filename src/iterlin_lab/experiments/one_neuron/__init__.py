"""L-RELU (L theorem 4, fig. 3): one ReLU neuron by gradient descent, against kernels and lazy training."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.one_neuron.settings import Scope

EXPERIMENT = Experiment(
    name="one_neuron",
    ids=("L-RELU",),
    scope=Scope,
    stage="toy",
    order=190,
    argument="lecture",
    differs=(
        "The theorem is about small errors ε and large d, where kernels need the most examples. At the ε and d that "
        "kernels can reach here the exponents are smaller."
    ),
    compared=("one_neuron", "one_neuron_exponents"),
)
