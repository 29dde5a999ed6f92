"""The empirical kernel of the training data with all digits that its Jacobian has."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PyTree
from scipy.linalg import get_blas_funcs

from iterlin._blocks import num_bytes, num_entries, num_examples, rows
from iterlin._kernels import Factors, factors

ITEMSIZE = 8  # bytes of an entry of Θ
COPIES = 3  # of Θ at once: itself, a product that is added to it, and what it is factorised into
COLUMNS = 2048  # of a Jacobian that are added to Θ at once


def exact_kernel(
    fn: Callable, params0: PyTree[Array], x: PyTree[Array], max_bytes: int, what: str
) -> Float[np.ndarray, "m m"]:
    """The lower triangle of Θ on the inputs x, which `what` asks for.

    It is the exact kernel of a Jacobian that is rounded to the precision of the parameters, for its products are summed
    in float64: so no small eigenvalue is made of rounding.

    **Raises**: `ValueError` with the bytes it would take, if the budget does not hold them.
    """
    m = num_entries(jax.eval_shape(fn, params0, x))
    if (needed := exact_kernel_bytes(fn, params0, x)) > max_bytes:
        raise ValueError(
            f"{what} for n·out = {m} outputs takes {needed:.2g} bytes, more than max_bytes = {max_bytes:.2g}: raise "
            "max_bytes, or use a solver that stores no kernel"
        )
    return _summed(_factors(fn, params0, x), m)


def exact_kernel_bytes(fn: Callable, params0: PyTree[Array], x: PyTree[Any]) -> int:
    """The memory for the Jacobian on the inputs x, of which shapes matter alone, and for Θ."""
    one, n = jax.eval_shape(lambda x: rows(x, slice(1)), x), num_examples(x)
    m = n * num_entries(jax.eval_shape(fn, params0, one))
    return n * num_bytes(eqx.filter_eval_shape(factors, fn, params0, one)) + COPIES * ITEMSIZE * m**2


def _summed(parts: list[Factors], m: int) -> Float[np.ndarray, "m m"]:
    """The lower triangle of Θ = Σ_l φ_l φ_lᵀ over the leaves l, summed in float64."""
    theta = np.zeros((m, m), order="F")
    (add_gram,) = get_blas_funcs(("syrk",), dtype=np.float64)
    for gradients, vectors in parts:
        flat = np.asarray(gradients).reshape(m, -1)
        if vectors is not None:
            g, v, n = flat.astype(np.float64), np.asarray(vectors, np.float64), len(vectors)
            product = (g @ g.T).reshape(n, m // n, n, m // n)
            product *= (v @ v.T)[:, None, :, None]
            theta += product.reshape(m, m).T
            continue
        for start in range(0, flat.shape[1], COLUMNS):
            columns = flat[:, start : start + COLUMNS].astype(np.float64)
            theta = add_gram(1.0, columns.T, beta=1.0, c=theta, trans=1, lower=1, overwrite_c=1)
    return theta


_factors = eqx.filter_jit(factors)
