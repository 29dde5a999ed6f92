"""Curvature of the lazy problem, matrix-free."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._linearise import require_real
from iterlin._losses import Loss


def ggn_max_eigenvalue(
    fn: Callable, params: PyTree[Array], x: Array, y: Array, loss: Loss, key: Array, num_iterations: int = 100
) -> Float[Array, ""]:
    """λ_max of the generalised Gauss–Newton matrix φᵀHφ of the mean loss, by power iteration.

    Gradient descent on the lazy problem is stable for ηλ_max < 2. The estimate approaches λ_max from below.
    """
    require_real(params)
    outputs, jvp = jax.linearize(lambda p: fn(p, x), params)
    transpose = jax.linear_transpose(jvp, params)

    def ggn(v):  # v → φv → Hφv → φᵀHφv
        hessian_vector = jax.jvp(jax.grad(lambda f: loss(f, y)), (outputs,), (jvp(v),))[1]
        return transpose(hessian_vector)[0]

    def unit(v):
        return optax.tree.scale(1 / optax.tree.norm(v), v)

    v = unit(optax.tree.random_like(key, params))
    v = jax.lax.fori_loop(0, num_iterations, lambda _, v: unit(ggn(v)), v)
    return jnp.asarray(optax.tree.vdot(v, ggn(v)))
