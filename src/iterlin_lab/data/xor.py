"""The XOR problem of T §4.2: four noisy clusters in the plane, at the corners of a square."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

CENTRES = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))


def draw(
    num_examples: int, noise_variance: float, key: Array
) -> tuple[Float[Array, "{num_examples} 2"], Float[Array, "{num_examples} 1"]]:
    """x = z + ε with z uniform on {±1}² and ε ~ N(0, `noise_variance`·I), and y = x₁x₂ of the noisy x."""
    centre_key, noise_key = jax.random.split(key)
    shape = (num_examples, 2)
    centres = jax.random.rademacher(centre_key, shape, float)
    x = centres + jnp.sqrt(noise_variance) * jax.random.normal(noise_key, shape)
    return x, x[:, :1] * x[:, 1:]
