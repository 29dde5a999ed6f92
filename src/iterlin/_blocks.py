"""A function of many examples, computed for some of them at a time."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree

from iterlin._devices import by_device, num_devices

CHUNK = 2000  # examples that are evaluated at once, so that memory does not grow with the data


def num_examples(examples: PyTree[Any]) -> int:
    """How many rows all arrays of a tree have."""
    return len(jax.tree.leaves(examples)[0])


def num_bytes(tree: PyTree[Any]) -> int:
    """What the arrays of a tree take, or those that it describes the shapes of."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def rows(examples: PyTree[Array], chosen: Int[Array, " m"] | slice | int) -> PyTree[Array]:
    """These examples, or this one, in every array of a tree."""
    return jax.tree.map(lambda array: array[chosen], examples)


def in_blocks(outputs: Callable[[PyTree[Array]], PyTree[Array]], x: PyTree[Array], at_most: int) -> PyTree[Array]:
    """The outputs for all n inputs, one after another for blocks of equal size; on each device for its own inputs.

    The last block is filled up with the last example, whose further outputs are dropped: one compiled body serves all.
    """
    n, devices = num_examples(x), num_devices()
    num_blocks = -(-n // (devices * max(1, at_most)))
    if num_blocks <= 1:
        return outputs(x)
    if devices > 1:
        return by_device(lambda x: in_blocks(outputs, x, at_most), x)
    size = -(-n // num_blocks)
    indices = jnp.minimum(jnp.arange(num_blocks * size, dtype=jnp.int32), n - 1).reshape(num_blocks, size)
    blocks = jax.lax.map(lambda chosen: outputs(rows(x, chosen)), indices)
    return jax.tree.map(lambda f: f.reshape(-1, *f.shape[2:])[:n], blocks)


def in_chunks(outputs: Callable[[PyTree[Array]], PyTree[Array]], x: PyTree[Array]) -> PyTree[Array]:
    """The outputs for all n inputs, `CHUNK` of them at most at a time."""
    return in_blocks(outputs, x, CHUNK)
