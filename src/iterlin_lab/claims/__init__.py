"""The claims of the sources as data, and their verdicts."""

from iterlin_lab.claims import (
    adam,
    augmentation,
    batches,
    damp1d,
    damp_ce,
    data_scaling,
    decay,
    filters,
    k_sweep,
    kernel_limit,
    lazy_flow,
    mnist,
    one_neuron,
    probes,
    stability,
    staircase,
    xor,
)
from iterlin_lab.claims.verdicts import judge as judge

# By experiment: the table that its tests take, and the claims.
CLAIMS = {
    "E-SWEEP": ("k_sweep_runs", k_sweep.CLAIMS),
    "E-DAMP1D": ("damp1d_runs", damp1d.CLAIMS),
    "E-ADAM": ("adam_runs", adam.CLAIMS),
    "E-DAMPCE": ("damp_ce_runs", damp_ce.CLAIMS),
    "E-XOR": ("xor_runs", xor.CLAIMS),
    "E-MNIST": ("mnist_runs", mnist.CLAIMS),
    "E-STABLE": ("stability_runs", stability.CLAIMS),
    "E-DATA": ("data_scaling_runs", data_scaling.CLAIMS),
    "E-AUG": ("augmentation_runs", augmentation.CLAIMS),
    "E-PROBE": ("probes_runs", probes.CLAIMS),
    "E-FILTER": ("filters_runs", filters.CLAIMS),
    "B-NTK": ("filters_runs", filters.NTK_CLAIMS),
    "E-BATCH": ("batches_runs", batches.CLAIMS),
    "L-KERNEL": ("kernel_limit_exponents", kernel_limit.CLAIMS),
    "L-KRR": ("staircase_runs", staircase.CLAIMS),
    "L-LAZY": ("lazy_flow_slopes", lazy_flow.CLAIMS),
    "L-DECAY": ("decay_runs", decay.CLAIMS),
    "L-RELU": ("one_neuron_runs", one_neuron.CLAIMS),
}
