"""A lazy phase with squared error in the eigenbasis of its kernel."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, " m"]


class Eigenbasis(NamedTuple):
    """A lazy phase with squared error in the eigenbasis of its kernel, Θ = φφᵀ = VΛVᵀ, with m = n·out outputs."""

    eigenvalues: Vector  # Λ in ascending order, 0 where it is no larger than `rounding`
    vectors: Float[np.ndarray, "m m"]  # V
    residual: Vector  # Vᵀ r_0
    num_examples: int
    damping: float  # λ
    rank: int = 0  # at most so many eigenvalues are not zero
    rounding: float = 0.0  # of an eigenvalue
    error_estimate: float = 0.0

    @property
    def known(self) -> bool:
        """Whether it has been computed."""
        return self.vectors.size > 0

    @property
    def rates(self) -> Vector:
        """s = Λ/n + 2λ: the eigenvalues of the Hessian of the lazy problem."""
        return self.eigenvalues / self.num_examples + 2 * self.damping


def eigenbasis(
    gram: Float[np.ndarray, "m m"],
    residual: Vector,
    num_examples: int,
    num_params: int,
    damping: float,
    least: float = 0.0,
) -> Eigenbasis:
    """The phase with kernel Θ = `gram` of rank ≤ p = `num_params` and r_0 = `residual`, in float64.

    An entry φ_i·φ_j of Θ has an error of about ε|φ_i||φ_j|, in the precision that it was computed in, so Θ has one of
    at most ε tr Θ in norm. An eigenvalue no larger than that may be zero, and ηt would amplify it without bound: its
    direction does not move. Neither does that of an eigenvalue up to `least` tr Θ. The lower triangle is read.

    What is not finite has no eigenbasis: its residual stays as it is, and the phase diverges at once.
    """
    m, residual = len(gram), residual.astype(np.float64)
    if not (np.isfinite(gram).all() and np.isfinite(residual).all()):
        return Eigenbasis(np.zeros(m), gram, np.full(m, np.nan), num_examples, damping)
    eigenvalues, vectors = np.linalg.eigh(gram.astype(np.float64, copy=False))
    rank, rounding = min(m, num_params), float(max(np.finfo(gram.dtype).eps, least) * np.trace(gram))
    known = (eigenvalues > rounding) & (np.arange(m) >= m - rank)
    eigenvalues = np.where(known, eigenvalues, 0)
    return Eigenbasis(eigenvalues, vectors, vectors.T @ residual, num_examples, damping, rank, rounding)


def objective(basis: Eigenbasis, dual: Vector) -> tuple[float, float]:
    """The lazy problem's objective and its gradient's norm at θ_s + φᵀVα."""
    n, damping, eigenvalues = basis.num_examples, basis.damping, basis.eigenvalues
    with np.errstate(over="ignore", invalid="ignore"):
        residual = basis.residual + eigenvalues * dual
        value = 0.5 * np.sum(residual**2) / n + damping * np.sum(eigenvalues * dual**2)
        gradient = residual / n + 2 * damping * dual
        return float(value), float(np.sqrt(np.sum(eigenvalues * gradient**2)))
