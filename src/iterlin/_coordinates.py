"""A lazy phase in orthonormal coordinates of the span that it moves θ in."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree
from scipy.linalg import get_blas_funcs, get_lapack_funcs, solve_triangular

from iterlin._blocks import in_chunks, num_bytes, num_examples, rows
from iterlin._kernels import Factors, factors
from iterlin._linearise import Linearised

ITEMSIZE = 8  # bytes of an entry of Θ
COPIES = 3  # of Θ at once: itself, a product that is added to it, and A
COLUMNS = 2048  # of a Jacobian that are added to Θ at once


class Coordinates(NamedTuple):
    """The lazy phase from θ_s as a function of few numbers a: θ = θ_s + φᵀL⁻ᵀa and f_lin = f_s + Aa.

    All of a phase's gradients lie in the span of the rows of φ, and with them θ − θ_s. Pivoted Cholesky factorisation
    chooses r rows of φ that span it, up to rounding in float64, and gives Θ = φφᵀ = AAᵀ. With L, the rows of A for
    these, the columns of φᵀL⁻ᵀ are orthonormal: so ‖a‖ = ‖θ − θ_s‖, and the gradient in a is as long as that in θ.
    """

    outputs0: Float[np.ndarray, "n ..."]  # f_s
    matrix: Float[np.ndarray, "n ... r"]  # A
    pivots: Int[np.ndarray, " r"]  # the rows of φ

    @property
    def known(self) -> bool:
        """Whether they have been computed."""
        return self.matrix.size > 0

    def cotangent(self, a: Float[np.ndarray, " r"]) -> Float[np.ndarray, "n ..."]:
        """L⁻ᵀa, as the u of θ − θ_s = φᵀu."""
        flat = self.matrix.reshape(-1, len(a))
        triangle = flat[self.pivots].astype(np.float64)
        u = np.zeros(len(flat))
        u[self.pivots] = solve_triangular(triangle.T, a.astype(np.float64), check_finite=False)
        return u.reshape(self.outputs0.shape).astype(self.outputs0.dtype)


def unknown_coordinates(dtype: np.dtype) -> Coordinates:
    """What stands for them before they are computed."""
    return Coordinates(np.zeros((0, 0), dtype), np.zeros((0, 0, 0), dtype), np.zeros(0, int))


def coordinates(fn: Callable, params0: PyTree[Array], x: PyTree[Array], max_bytes: int) -> Coordinates:
    """Those of the phase from θ_s = `params0` on the inputs x.

    Θ is the exact kernel of a Jacobian that is rounded to the precision of the parameters, for its products are summed
    in float64: so no small eigenvalue is made of rounding.

    **Raises**: `ValueError` with the bytes it would take, if the budget does not hold them; or for outputs that are
    no single array.
    """
    outputs0 = outputs(fn, params0, x)
    if not eqx.is_array(outputs0):
        raise ValueError("the dual form takes a network whose outputs are one array: use its solver as it is")
    outputs0 = np.asarray(outputs0)
    m, one = outputs0.size, rows(x, slice(1))
    example = eqx.filter_eval_shape(factors, fn, params0, one)
    needed = num_examples(x) * num_bytes(example) + COPIES * ITEMSIZE * m**2
    if needed > max_bytes:
        raise ValueError(
            f"the dual form for n·out = {m} outputs takes {needed:.2g} bytes, more than max_bytes = {max_bytes:.2g}: "
            "raise max_bytes, or use its solver as it is, which stores no kernel"
        )
    theta = _kernel(_factors(fn, params0, x), m)
    if not np.isfinite(theta.diagonal()).all():
        return Coordinates(outputs0, np.full((*outputs0.shape, 1), np.nan, outputs0.dtype), np.zeros(1, int))
    (pivoted_cholesky,) = get_lapack_funcs(("pstrf",), dtype=np.float64)
    factor, order, rank, _ = pivoted_cholesky(theta, lower=1, overwrite_a=1)
    rank, order = max(rank, 1), order - 1
    matrix = np.empty((m, rank), outputs0.dtype)
    matrix[order] = np.tril(factor)[:, :rank]
    return Coordinates(outputs0, matrix.reshape(*outputs0.shape, rank), order[:rank])


def _kernel(parts: list[Factors], m: int) -> Float[np.ndarray, "m m"]:
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


@eqx.filter_jit
def outputs(fn: Callable, params: PyTree[Array], x: PyTree[Array]) -> PyTree[Array]:
    """f(θ, x), chunk by chunk."""
    return in_chunks(lambda x: fn(params, x), x)


@eqx.filter_jit
def moved(
    fn: Callable, params0: PyTree[Array], x: PyTree[Array], cotangent: PyTree[Array]
) -> tuple[PyTree[Array], PyTree[Array]]:
    """θ_s + φᵀu and φφᵀu."""
    linearised = Linearised(fn, params0)
    change = linearised.vjp(cotangent, x)
    return optax.tree.add(params0, change), linearised.jvp(change, x)


_factors = eqx.filter_jit(factors)
