"""About how many operations kernel ridge regression takes."""

from iterlin_lab.experiments.staircase.run import LIMITS
from iterlin_lab.experiments.staircase.settings import Scope

AN_ENTRY = 200  # of the kernel, from the cosine of two inputs


def operations(scale: Scope) -> float:
    """The kernels on the largest n, their factorisation, and the predictions for all n of it."""
    own, total = scale.staircase, 0.0
    for dimension in own.dimensions:
        n = max(own.sizes(dimension).values())
        total += n * (n + own.num_test) * (2 * dimension + AN_ENTRY) + n**3 / 3 + 2 * n**2 * own.num_test
    return own.num_seeds * len(LIMITS) * total
