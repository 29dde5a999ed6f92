"""Uniform inputs on the sphere √d S^{d−1}, and targets there whose energy in every degree is known (L §1.2)."""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def uniform(key: Array, number: int, dimension: int) -> Float[Array, "n d"]:
    """Independent uniform points on √d S^{d−1}."""
    x = jax.random.normal(key, (number, dimension))
    return math.sqrt(dimension) * x / jnp.linalg.norm(x, axis=1, keepdims=True)


def harmonic(x: Float[Array, "n d"], degree: int) -> Float[Array, " n"]:
    """A spherical harmonic of this degree k < d, of norm one in L²(√d S^{d−1}).

    It is Σᵢ xᵢ xᵢ₊₁ … xᵢ₊ₖ₋₁, cyclic in i, up to a factor. A product of distinct coordinates is harmonic; different
    ones are orthogonal, and each has E[x₁² … x_k²] = dᵏ / (d (d + 2) … (d + 2k − 2)).

    **Raises**: `ValueError` for a degree that is not below the dimension: its products would not differ.
    """
    dimension = x.shape[1]
    if not 0 < degree < dimension:
        raise ValueError(f"the degree must be above 0 and below the dimension, {dimension}, got {degree}")
    products = math.prod(jnp.roll(x, -shift, axis=1) for shift in range(degree))
    square = math.prod(dimension / (dimension + 2 * j) for j in range(degree))
    return jnp.sum(products, axis=1) / math.sqrt(dimension * square)


def target(x: Float[Array, "n d"], energies: Sequence[float]) -> Float[Array, " n"]:
    """f*(x) = Σ_k √E_k Y_k(x) over the degrees k = 1, 2, … of `energies`, so that ‖P_{>l} f*‖² = Σ_{k>l} E_k."""
    return sum(
        (math.sqrt(energy) * harmonic(x, degree) for degree, energy in enumerate(energies, start=1)),
        start=jnp.zeros(len(x)),
    )
