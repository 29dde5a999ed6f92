"""L-KERNEL (L theorem 2): how far the kernels of finite networks are from their limits, over N and over n."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.kernel_limit.settings import Scope

EXPERIMENT = Experiment(
    name="kernel_limit",
    ids=("L-KERNEL",),
    scope=Scope,
    stage="toy",
    order=150,
    argument="lecture",
    differs=(
        "The theorem is an upper bound, without its constants. The error of a kernel of finite width has further "
        "terms, which bend a line in log N."
    ),
    compared=("kernel_limit_fits",),
)
