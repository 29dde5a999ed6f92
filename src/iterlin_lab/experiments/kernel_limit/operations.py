"""About how many operations the kernels take."""

from iterlin_lab.experiments.kernel_limit.run import KERNELS, pairs
from iterlin_lab.experiments.kernel_limit.settings import KernelLimit, Scope


def operations(scale: Scope) -> float:
    """Both kernels from N neurons on n inputs of d numbers, and 20 n³ for the eigenvalues of each."""
    own: KernelLimit = scale.kernel_limit
    each = sum(2 * n * width * own.dimension + 2 * n**2 * width + 20 * n**3 for _, n, width in pairs(own))
    return own.num_seeds * len(KERNELS) * each
