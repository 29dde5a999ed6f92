"""Measures of a run that are ready for `RecordAt`: its sharpness, and the rank of its kernel."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from iterlin._curvature import ggn_product, hessian_product, lanczos_max
from iterlin._kernels import BUDGET, empirical_ntk
from iterlin._losses import Loss
from iterlin._records import Moment

Measure = Callable[[Moment], dict[str, float]]


def sharpness(
    loss: Loss, x: PyTree[Array | np.ndarray], y: PyTree[Array | np.ndarray], key: Array, num_iterations: int = 40
) -> Measure:
    """For `RecordAt(steps, sharpness(...))`: the largest curvatures of the network's mean loss on (x, y) at θ.

    `hessian_max` is λ_max of the Hessian (see `hessian_max_eigenvalue`), and `ggn_max` that of its Gauss–Newton part
    φᵀHφ, which is the Hessian of the lazy problem about θ. Gradient descent with K = 1 is stable for η·hessian_max < 2,
    and in late training often stays near that bound (Cohen et al. 2021).

    **Arguments**: `num_iterations` of Lanczos's method for each; `key` draws their start, the same one at each record.
    A second measure of this kind in one run needs other names: wrap the function.

    **Raises**: `ValueError` for fewer than one iteration, at the first record.
    """
    x, y = (jax.tree.map(jnp.asarray, part) for part in (x, y))

    def measure(moment: Moment) -> dict[str, float]:
        found = _sharpness(moment.linearised.fn, moment.params, x, y, loss, key, num_iterations)
        return {name: value.item() for name, value in found.items()}

    return measure


@eqx.filter_jit
def _sharpness(fn, params, x, y, loss, key, num_iterations):
    products = {"hessian_max": hessian_product, "ggn_max": ggn_product}
    return {
        name: lanczos_max(product(fn, params, x, y, loss), params, key, num_iterations)
        for name, product in products.items()
    }


def kernel_rank(x: PyTree[Array | np.ndarray], *, max_bytes: int = BUDGET) -> Measure:
    """For `RecordAt(steps, kernel_rank(x))`: `kernel_rank`, the `effective_rank` of the empirical NTK on x at θ.

    The kernel of all n·out outputs is stored (see `empirical_ntk`), and its eigenvalues take (n·out)³ operations.

    **Raises**: what `empirical_ntk` raises, at the first record.
    """
    x = jax.tree.map(jnp.asarray, x)

    def measure(moment: Moment) -> dict[str, float]:
        kernel = empirical_ntk(moment.linearised.fn, moment.params, x, max_bytes=max_bytes)
        m = kernel.shape[0] * kernel.shape[1]
        return {"kernel_rank": effective_rank(kernel.reshape(m, m))}

    return measure


def effective_rank(kernel: Float[np.ndarray, "m m"]) -> float:
    """exp H(p) with pᵢ = Λᵢ/ΣΛ, the entropy H of the normalised eigenvalues (Roy and Vetterli 2007); NaN if Θ = 0.

    It lies between 1 and the rank, and is k for k equal eigenvalues. The participation ratio (ΣΛ)²/ΣΛ² is never larger,
    and the largest eigenvalue all but decides it: that of an NTK is far above the others, since the gradients of all
    examples have much in common. The entropy still sees how the others are spread.
    """
    if not np.isfinite(kernel).all():
        return float("nan")
    eigenvalues = np.maximum(np.linalg.eigvalsh(kernel.astype(np.float64)), 0)  # rounding makes some negative
    if not eigenvalues.sum() > 0:
        return float("nan")
    shares = eigenvalues / eigenvalues.sum()
    shares = shares[shares > 0]
    return float(np.exp(-np.sum(shares * np.log(shares))))
