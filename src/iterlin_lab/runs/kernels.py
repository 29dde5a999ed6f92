"""Tangent kernels of trained networks that experiments compare."""

from typing import Any

import jax
import numpy as np

from iterlin import empirical_ntk, functional


def traced_ntk(model: Any, x: jax.Array) -> jax.Array:
    """Σ_o Θ(x, x)_{·o·o}, of shape (n, n)."""
    params, fn = functional(model)
    return jax.numpy.asarray(np.trace(empirical_ntk(fn, params, x), axis1=1, axis2=3))
