"""Kernel ridge regression and its feature-space twin (L §1.2)."""

import math

import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Float


def kernel_ridge(kernel: Float[Array, "n n"], y: Float[Array, "n ..."], ridge: float) -> Float[Array, "n ..."]:
    """The coefficients c = (λI + K_n)⁻¹ y, with λ = `ridge`: the prediction at x is K(x, ·) c (L §1.2).

    The result is NaN where λI + K_n is not positive definite to rounding.
    """
    return cho_solve(cho_factor(kernel + ridge * jnp.eye(len(kernel)), lower=True), y)


def feature_ridge(features: Float[Array, "n p"], y: Float[Array, "n ..."], ridge: float) -> Float[Array, "p ..."]:
    """b*(λ) = argmin_b ‖y − Φb‖² + λ‖b‖², with λ = `ridge`: the prediction at x is ⟨b*, Φ(x)⟩ (L §1.2).

    Solved as least squares in the p features, without the n × n kernel; with λ = 0 it is the solution of least norm.
    """
    size = features.shape[1]
    rows = jnp.concatenate([features, math.sqrt(ridge) * jnp.eye(size)])
    return jnp.linalg.lstsq(rows, jnp.concatenate([y, jnp.zeros((size, *y.shape[1:]))]))[0]
