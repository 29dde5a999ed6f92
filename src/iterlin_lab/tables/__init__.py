"""From results to the tables that figures, claims and report read."""

from iterlin_lab.tables import (
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
from iterlin_lab.tables.summaries import ACCURACIES as ACCURACIES
from iterlin_lab.tables.summaries import diverged_runs as diverged_runs
from iterlin_lab.tables.summaries import interval as interval
from iterlin_lab.tables.summaries import mean_curves as mean_curves
from iterlin_lab.tables.summaries import summarise as summarise

TABLES = (
    k_sweep.tables,
    damp1d.tables,
    adam.tables,
    damp_ce.tables,
    xor.tables,
    mnist.tables,
    augmentation.tables,
    probes.tables,
    filters.tables,
    batches.tables,
    data_scaling.tables,
    stability.tables,
    kernel_limit.tables,
    staircase.tables,
    lazy_flow.tables,
    decay.tables,
    one_neuron.tables,
)
