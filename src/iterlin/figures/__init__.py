"""Figures, drawn from tables alone."""

from iterlin.figures import (
    adam,
    augmentation,
    batches,
    damp1d,
    damp_ce,
    data_scaling,
    filters,
    k_sweep,
    kernel_limit,
    kernels,
    mnist,
    one_neuron,
    probes,
    stability,
    staircase,
    xor,
)

FIGURES = {
    **k_sweep.FIGURES,
    **damp1d.FIGURES,
    **adam.FIGURES,
    **damp_ce.FIGURES,
    **xor.FIGURES,
    **mnist.FIGURES,
    **augmentation.FIGURES,
    **probes.FIGURES,
    **filters.FIGURES,
    **kernels.FIGURES,
    **batches.FIGURES,
    **data_scaling.FIGURES,
    **stability.FIGURES,
    **kernel_limit.FIGURES,
    **staircase.FIGURES,
    **one_neuron.FIGURES,
}
