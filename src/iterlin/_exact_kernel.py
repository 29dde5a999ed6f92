"""The empirical kernel of the training data with all digits that its Jacobian has."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PyTree
from scipy.linalg import get_blas_funcs

from iterlin._blocks import num_bytes, num_examples, rows
from iterlin._devices import gathered
from iterlin._kernels import Factors, factors

ITEMSIZE = 8  # bytes of an entry of Θ
COPIES = 3  # of Θ at once: itself, a product that is added to it, and what it is factorised into
COLUMNS = 2048  # of a Jacobian that are added to Θ at once
ROWS = 8192  # of Θ that are a product at once: in more of them OpenBLAS 0.3.30 crashes


def exact_kernel(
    fn: Callable, params0: PyTree[Array], x: PyTree[Array], max_bytes: int, what: str
) -> Float[np.ndarray, "m m"]:
    """The lower triangle of Θ on the inputs x, which `what` asks for.

    It is the exact kernel of a Jacobian that is rounded to the precision of the parameters, for its products are summed
    in float64: so no small eigenvalue is made of rounding.

    **Raises**: `ValueError` with the bytes it would take, if the budget does not hold them.
    """
    size = exact_kernel_size(fn, params0, x)
    if (needed := size.num_bytes) > max_bytes:
        raise ValueError(
            f"{what} for n·out = {size.num_outputs} outputs takes {needed:.2g} bytes, more than max_bytes = "
            f"{max_bytes:.2g}: raise max_bytes, or use a solver that stores no kernel"
        )
    return _summed(_factors(fn, params0, x), size.num_outputs)


class Size(NamedTuple):
    """What Θ on n inputs is made of: the shapes of one example, and of what its Jacobian follows from."""

    num_examples: int
    example: PyTree[jax.ShapeDtypeStruct]
    factors: list[Factors]

    @property
    def num_outputs(self) -> int:
        """m = n·out."""
        return self.num_examples * self.factors[0].gradients.shape[1]

    @property
    def num_bytes(self) -> int:
        """The memory for the Jacobian and for Θ."""
        return self.num_examples * num_bytes(self.factors) + COPIES * ITEMSIZE * self.num_outputs**2


def exact_kernel_size(fn: Callable, params0: PyTree[Array], x: PyTree[Any]) -> Size:
    """Of Θ on the inputs x, of which shapes matter alone. Every phase asks for it: the same shapes are traced once."""
    one = jax.eval_shape(lambda x: rows(x, slice(1)), x)
    return Size(num_examples(x), one, eqx.filter_eval_shape(_factors, fn, params0, one))


def _summed(parts: list[Factors], m: int) -> Float[np.ndarray, "m m"]:
    """The lower triangle of Θ = Σ_l φ_l φ_lᵀ over the leaves l, summed in float64."""
    theta = np.zeros((m, m), order="F")
    for gradients, vectors in parts:
        flat = gathered(gradients).reshape(m, -1)
        if vectors is not None:
            g, v, n = flat.astype(np.float64), gathered(vectors).astype(np.float64), len(vectors)
            product = (g @ g.T).reshape(n, m // n, n, m // n)
            product *= (v @ v.T)[:, None, :, None]
            theta += product.reshape(m, m).T
            continue
        for start in range(0, flat.shape[1], COLUMNS):
            _add_gram(theta, flat[:, start : start + COLUMNS].astype(np.float64))
    return theta


def _add_gram(theta: Float[np.ndarray, "m m"], columns: Float[np.ndarray, "m q"]) -> None:
    """Add the lower triangle of CCᵀ."""
    (add_gram,) = get_blas_funcs(("syrk",), dtype=np.float64)
    for start in range(0, len(theta), ROWS):
        own, below = slice(start, start + ROWS), slice(start + ROWS, None)
        c = theta[own, own]
        theta[own, own] = add_gram(1.0, columns[own].T, beta=1.0, c=c, trans=1, lower=1, overwrite_c=1)
        theta[below, own] += (columns[own] @ columns[below].T).T


_factors = eqx.filter_jit(factors)
