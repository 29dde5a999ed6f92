"""A lazy phase in orthonormal coordinates of the span that it moves θ in."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree
from scipy.linalg import get_lapack_funcs, solve_triangular

from iterlin._blocks import in_chunks
from iterlin._devices import gathered
from iterlin._exact_kernel import exact_kernel
from iterlin._linearise import Linearised


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

    **Raises**: `ValueError` with the bytes it would take, if the budget does not hold them; or for outputs that are
    no single array.
    """
    outputs0 = outputs(fn, params0, x)
    if not eqx.is_array(outputs0):
        raise ValueError("the dual form takes a network whose outputs are one array: use its solver as it is")
    outputs0 = gathered(outputs0)
    theta = exact_kernel(fn, params0, x, max_bytes, "the dual form")
    if not np.isfinite(theta.diagonal()).all():
        return Coordinates(outputs0, np.full((*outputs0.shape, 1), np.nan, outputs0.dtype), np.zeros(1, int))
    (pivoted_cholesky,) = get_lapack_funcs(("pstrf",), dtype=np.float64)
    factor, order, rank, _ = pivoted_cholesky(theta, lower=1, overwrite_a=1)
    rank, order = max(rank, 1), order - 1
    matrix = np.empty((len(theta), rank), outputs0.dtype)
    matrix[order] = np.tril(factor)[:, :rank]
    return Coordinates(outputs0, matrix.reshape(*outputs0.shape, rank), order[:rank])


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
