"""A function of many examples, computed for some of them at a time."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

CHUNK = 2000  # examples that are evaluated at once, so that memory does not grow with the data


def in_blocks(outputs: Callable[[Array], PyTree[Array]], x: Array, at_most: int) -> PyTree[Array]:
    """The outputs for all n inputs, one after another for blocks of equal size.

    The last block is filled up with the last example, whose further outputs are dropped: one compiled body serves all.
    """
    n = len(x)
    num_blocks = -(-n // max(1, at_most))
    if num_blocks <= 1:
        return outputs(x)
    size = -(-n // num_blocks)
    indices = jnp.minimum(jnp.arange(num_blocks * size, dtype=jnp.int32), n - 1).reshape(num_blocks, size)
    blocks = jax.lax.map(lambda chosen: outputs(x[chosen]), indices)
    return jax.tree.map(lambda f: f.reshape(-1, *f.shape[2:])[:n], blocks)


def in_chunks(outputs: Callable[[Array], PyTree[Array]], x: Array) -> PyTree[Array]:
    """The outputs for all n inputs, `CHUNK` of them at most at a time."""
    return in_blocks(outputs, x, CHUNK)
