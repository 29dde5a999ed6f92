"""L-KERNEL (L theorem 2): how far the kernels of finite networks are from their limits, over N and over n.

In float64: the limits are factorised, and the error is small against their largest eigenvalue.
"""

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

import jax
import pandas as pd

from iterlin.two_layer.limits import nt_limit, rf_limit, whitened_error
from iterlin.two_layer.networks import nt_kernel, rf_kernel, two_layer
from iterlin.two_layer.sphere import uniform
from iterlin_lab.experiments.kernel_limit.settings import KernelLimit, Scope
from iterlin_lab.runs.workers import side_by_side

KERNELS = {"RF": (rf_kernel, rf_limit), "NT": (nt_kernel, nt_limit)}


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a kernel, a pair of n and N, and a run."""
    tasks = [(scale.seed, scale.kernel_limit, run) for run in range(scale.kernel_limit.num_seeds)]
    answers = side_by_side(f"{__name__}:{errors.__name__}", tasks, scale.threads, "L-KERNEL", "run")
    return {"errors": pd.DataFrame(chain.from_iterable(answers))}


def pairs(section: KernelLimit) -> list[tuple[str, int, int]]:
    """What varies, n and N: every width on as many inputs, then every number of inputs at one width."""
    by_width = [("N", section.num_examples, width) for width in section.widths]
    return by_width + [("n", size, section.width) for size in section.sizes]


def errors(task: tuple[int, KernelLimit, int]) -> list[dict[str, Any]]:
    """The rows of one run, all of whose networks are independent; those on as many inputs share them."""
    seed, section, run = task
    with jax.enable_x64(True):
        return list(_rows(seed, section, run))


def _rows(seed: int, section: KernelLimit, run: int) -> Iterator[dict[str, Any]]:
    experiment = jax.random.fold_in(jax.random.key(seed), zlib.crc32(b"kernel_limit"))
    dimension = section.dimension
    for varied, n, width in pairs(section):
        of_inputs, of_weights = jax.random.split(jax.random.fold_in(jax.random.fold_in(experiment, run), n))
        x = uniform(of_inputs, n, dimension)
        key = jax.random.fold_in(of_weights, width)
        model = two_layer(width, dimension, width**-0.5, jax.nn.relu, key, antisymmetric=False)
        for name, (kernel, limit) in KERNELS.items():
            error = float(whitened_error(kernel(model, x, x), limit(jax.nn.relu, x, x)))
            yield {"kernel": name, "varied": varied, "n": n, "N": width, "d": dimension, "run": run, "error": error}
