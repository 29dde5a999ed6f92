"""L-KRR (L theorem 1): the test error of kernel ridge regression on the sphere, against log n / log d."""

import zlib
from collections.abc import Callable
from functools import cache
from itertools import chain, product
from typing import Any

import jax
import jax.numpy as jnp
import pandas as pd
from jax.scipy.special import erf
from jaxtyping import Array

from iterlin.two_layer.growing import growing_ridge
from iterlin.two_layer.limits import nt_limit, on_sphere, rf_limit
from iterlin.two_layer.sphere import target, uniform
from iterlin_lab.experiments.staircase.settings import Scope, Staircase
from iterlin_lab.runs.workers import side_by_side

LIMITS = {"RF": rf_limit, "NT": nt_limit}


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a kernel, dimension d, run and n, with the test error."""
    section = scale.staircase
    runs = product(range(section.num_seeds), section.dimensions)  # runs of one d stand apart: it is compiled once
    tasks = [(scale.seed, section, dimension, run) for run, dimension in runs]
    answers = side_by_side(f"{__name__}:{curves.__name__}", tasks, scale.threads, "staircase", "run")
    table = pd.DataFrame(list(chain.from_iterable(answers)))
    return {"errors": table.sort_values(["kernel", "dimension", "exponent", "run"], ignore_index=True)}


def curves(task: tuple[int, Staircase, int, int]) -> list[dict[str, Any]]:
    """The learning curves of both kernels in one run, whose smaller training sets are parts of its larger ones."""
    seed, section, dimension, run = task
    with jax.enable_x64(True):
        x, x_test = draw(seed, section, dimension, run)
        y, y_test = target(x, section.energies), target(x_test, section.energies)
        rows = []
        for name in LIMITS:
            kernel = _kernel(name, section.shift)
            predictions = growing_ridge(kernel(x, x), kernel(x_test, x), y, section.ridge)
            for exponent, n in section.sizes(dimension).items():
                row = {"kernel": name, "dimension": dimension, "exponent": exponent, "n": n, "run": run}
                rows.append(row | {"test_error": float(jnp.mean(jnp.square(predictions[n - 1] - y_test)))})
    return rows


def draw(seed: int, section: Staircase, dimension: int, run: int) -> tuple[Array, Array]:
    """The training inputs of the largest n, and the test inputs."""
    key = jax.random.fold_in(jax.random.key(seed), zlib.crc32(b"staircase"))
    of_train, of_test = jax.random.split(jax.random.fold_in(jax.random.fold_in(key, dimension), run))
    largest = max(section.sizes(dimension).values())
    return uniform(of_train, largest, dimension), uniform(of_test, section.num_test, dimension)


@cache
def _kernel(name: str, shift: float) -> Callable[[Array, Array], Array]:
    """A kernel none of whose Hermite coefficients vanishes, as theorem 1 asks; with ReLU they do in odd degrees ≥ 3."""
    return on_sphere(LIMITS[name], lambda z: erf(z + shift))
