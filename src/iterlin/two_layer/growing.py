"""Kernel ridge regression on training sets that grow, for the price of the largest."""

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float


@jax.jit
def growing_ridge(
    kernel: Float[Array, "n n"], test: Float[Array, "m n"], y: Float[Array, " n"], ridge: float | Float[Array, ""]
) -> Float[Array, "n m"]:
    """Row k − 1 has the predictions K(x, ·)ᵀ (λI + K_k)⁻¹ y of the first k examples, with λ = `ridge` (L §1.2).

    The factor of λI + K_k = L_k L_kᵀ is the leading block of L_n. So the prediction is the sum of the first k terms
    of ⟨L⁻¹ K(x, ·), L⁻¹ y⟩. **Arguments**: `kernel` is K_n, and `test` has K(x, ·) for m inputs x.
    """
    lower = jnp.linalg.cholesky(kernel + ridge * jnp.eye(len(kernel)))
    weights = solve_triangular(lower, y, lower=True)
    return jnp.cumsum(weights[:, None] * solve_triangular(lower, test.T, lower=True), axis=0)
