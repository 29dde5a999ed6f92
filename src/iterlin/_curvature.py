"""Curvature of the lazy problem and of the network's own loss, matrix-free."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from iterlin._linearise import require_real
from iterlin._losses import Loss

Product = Callable[[PyTree[Array]], PyTree[Array]]  # v ↦ Hv, with v like θ


def ggn_max_eigenvalue(
    fn: Callable,
    params: PyTree[Array],
    x: PyTree[Array],
    y: PyTree[Array],
    loss: Loss,
    key: Array,
    num_iterations: int = 100,
) -> Float[Array, ""]:
    """λ_max of the generalised Gauss–Newton matrix φᵀHφ of the mean loss, by power iteration.

    Gradient descent on the lazy problem is stable for ηλ_max < 2. The estimate approaches λ_max from below.
    """
    ggn = ggn_product(fn, params, x, y, loss)

    def unit(v):
        return optax.tree.scale(1 / optax.tree.norm(v), v)

    v = unit(optax.tree.random_like(key, params))
    v = jax.lax.fori_loop(0, num_iterations, lambda _, v: unit(ggn(v)), v)
    return jnp.asarray(optax.tree.vdot(v, ggn(v)))


def hessian_max_eigenvalue(
    fn: Callable,
    params: PyTree[Array],
    x: PyTree[Array],
    y: PyTree[Array],
    loss: Loss,
    key: Array,
    num_iterations: int = 40,
) -> Float[Array, ""]:
    """λ_max of the Hessian of the mean loss of the network: its sharpness (Cohen et al. 2021), by `lanczos_max`.

    The Hessian is φᵀHφ + Σ ℓ'ᵢ ∂²fᵢ/∂θ², and indefinite: this is its largest eigenvalue, not the largest magnitude.

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out); `loss` is their mean loss with the
    targets `y`; `key` draws the start. It takes about the memory of two gradients, and `num_iterations` vectors like θ.

    **Raises**: `ValueError` if a parameter is complex, or for fewer than one iteration.
    """
    return lanczos_max(hessian_product(fn, params, x, y, loss), params, key, num_iterations)


def ggn_product(fn: Callable, params: PyTree[Array], x: PyTree[Array], y: PyTree[Array], loss: Loss) -> Product:
    """v ↦ φᵀHφv."""
    require_real(params)
    outputs, jvp = jax.linearize(lambda p: fn(p, x), params)
    transpose = jax.linear_transpose(jvp, params)

    def ggn(v):  # v → φv → Hφv → φᵀHφv
        hessian_vector = jax.jvp(jax.grad(lambda f: loss(f, y)), (outputs,), (jvp(v),))[1]
        return transpose(hessian_vector)[0]

    return ggn


def hessian_product(fn: Callable, params: PyTree[Array], x: PyTree[Array], y: PyTree[Array], loss: Loss) -> Product:
    """v ↦ (∂²/∂θ² of the mean loss) v: the gradient's derivative along v."""
    require_real(params)
    return jax.linearize(jax.grad(lambda p: loss(fn(p, x), y)), params)[1]


def lanczos_max(product: Product, like: PyTree[Array], key: Array, num_iterations: int) -> Float[Array, ""]:
    """λ_max of a symmetric matrix H, by Lanczos's method from a random vector (Golub and Van Loan 2013, §10.1).

    It is the largest eigenvalue of QᵀHQ, with Q an orthonormal basis of the Krylov space: never above λ_max, and within
    rounding of it once there are as many iterations as different eigenvalues. Each new vector is made orthogonal to all
    before it, twice: otherwise rounding lets found eigenvalues come again.

    **Raises**: `ValueError` for fewer than one iteration.
    """
    if num_iterations < 1:
        raise ValueError(f"num_iterations must be at least 1, got {num_iterations}")
    start, unravel = ravel_pytree(optax.tree.random_like(key, like))
    basis = jnp.zeros((min(num_iterations, start.size), start.size), start.dtype)
    unit = start / jnp.linalg.norm(start)
    _, (alphas, betas) = jax.lax.scan(
        lambda carry, i: _lanczos_step(lambda q: ravel_pytree(product(unravel(q)))[0], *carry, i),
        (basis, unit),
        jnp.arange(len(basis)),
    )
    # Once the Krylov space is exhausted, vectors are zero. What stands for them must not become the largest: the first
    # α is a mean of eigenvalues.
    exhausted = jnp.concatenate([jnp.zeros(1, bool), betas[:-1] == 0])
    diagonal = jnp.where(exhausted, alphas[0], alphas)
    tridiagonal = jnp.diag(diagonal) + jnp.diag(betas[:-1], 1) + jnp.diag(betas[:-1], -1)
    return jnp.linalg.eigvalsh(tridiagonal)[-1]


def _lanczos_step(
    product: Callable[[Array], Array], basis: Float[Array, "k p"], q: Float[Array, " p"], i: Any
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Hq = β₋q₋ + αq + βq₊: the basis with q, and q₊; and α and β. What is left of Hq after rounding alone is zero."""
    basis = basis.at[i].set(q)
    image = product(q)
    rest = _orthogonal(basis, _orthogonal(basis, image))
    beta = jnp.linalg.norm(rest)
    beta = jnp.where(beta > 10 * jnp.finfo(q.dtype).eps * jnp.linalg.norm(image), beta, 0)
    following = jnp.where(beta > 0, rest / jnp.where(beta > 0, beta, 1), 0)
    return (basis, following), (jnp.dot(q, image, precision="highest"), beta)


def _orthogonal(basis: Float[Array, "k p"], v: Float[Array, " p"]) -> Float[Array, " p"]:
    """v less its part in the span of the rows."""
    return v - jnp.matmul(jnp.matmul(basis, v, precision="highest"), basis, precision="highest")
