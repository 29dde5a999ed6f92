"""About how many operations descent and kernel regression take."""

from iterlin_lab.experiments.one_neuron.settings import Scope

LEARNERS = 3  # with kernels


def operations(scale: Scope) -> float:
    """All steps of descents on the largest n; and kernels on the largest n, with N neurons, and their solutions."""
    own, total = scale.one_neuron, 0.0
    for dimension in own.dimensions:
        n = max(own.descent.ratios) * dimension
        total += len(own.descent.ratios) * own.descent.num_steps * 4 * n * dimension
        n = max(own.ratios) * dimension
        entries = n * (n + own.num_test)
        total += LEARNERS * (n**3 / 3 + 2 * n**2 * own.num_test) + entries * (8 * dimension + 4 * own.width)
    return own.num_seeds * total
