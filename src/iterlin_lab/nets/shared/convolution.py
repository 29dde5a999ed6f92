"""Convolution and pooling that XLA runs fast on a CPU, also inside loops.

`lax.conv_general_dilated` is up to ten times slower inside `lax.scan` and `lax.while_loop` on a CPU
(https://github.com/jax-ml/jax/issues/12868), and the derivative of `lax.reduce_window` is several times slower than
that of a maximum. On a GPU the convolution is left to cuDNN.
"""

from functools import partial, reduce

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

DIMENSIONS = ("NHWC", "HWIO", "NHWC")
LENGTH = 256  # of the rows of a matrix: products of shorter ones are slow, longer ones copy the image more often


def conv2d(
    x: Float[Array, "height width channels"],
    kernel: Float[Array, "size size channels out"],
    padding: str,
) -> Float[Array, "rows columns out"]:
    """Cross-correlation of one image with stride 1 and `"VALID"` or `"SAME"` padding."""
    if jax.default_backend() != "cpu":
        return jax.lax.conv_general_dilated(x[None], kernel, (1, 1), padding, dimension_numbers=DIMENSIONS)[0]
    return conv2d_by_rows(x, kernel, padding)


# The derivatives keep the image alone and unfold it again: reading back `size` times as much costs more.
@partial(jax.checkpoint, static_argnums=2, prevent_cse=False)
def conv2d_by_rows(x: Array, kernel: Array, padding: str) -> Array:
    """The convolution by matrix products, each for as many rows of the kernel as make it `LENGTH` long."""
    size, _, channels, out = kernel.shape
    if padding == "SAME":
        before = (size - 1) // 2
        x = jnp.pad(x, ((before, size - 1 - before), (before, size - 1 - before), (0, 0)))
    rows, columns = x.shape[0] - size + 1, x.shape[1] - size + 1
    unfolded = jnp.concatenate([x[:, j : j + columns] for j in range(size)], axis=-1)
    at_once = max(1, LENGTH // (size * channels))

    def product(first: int) -> Array:
        block = range(first, min(first + at_once, size))
        patches = jnp.concatenate([unfolded[i : i + rows] for i in block], axis=-1)
        return patches @ kernel[first : first + at_once].reshape(-1, out)

    return reduce(jnp.add, map(product, range(0, size, at_once)))


def max_pool(x: Float[Array, "height width channels"]) -> Float[Array, "rows columns channels"]:
    """2×2 max-pooling with stride 2; an odd last row or column is left out."""
    x = x[: x.shape[0] // 2 * 2, : x.shape[1] // 2 * 2]
    top, bottom = (_maximum(x[i::2, 0::2], x[i::2, 1::2]) for i in range(2))
    return _maximum(top, bottom)


@jax.custom_jvp
def _maximum(a: Array, b: Array) -> Array:
    """The maximum. Of equal values the first counts in the derivative, as in `lax.reduce_window`: one selection."""
    return jnp.maximum(a, b)


@_maximum.defjvp
def _maximum_jvp(values, tangents):
    return jnp.maximum(*values), jnp.where(values[0] >= values[1], *tangents)


class Conv2d(eqx.Module):
    """A convolutional layer on images (height, width, channels), with a square kernel and stride 1."""

    weight: Float[Array, "size size channels out"]
    bias: Float[Array, " out"]
    padding: str = eqx.field(static=True)

    def __init__(self, channels: int, out: int, size: int, padding: str, *, key: Array):
        if padding not in ("VALID", "SAME"):
            raise ValueError(f"padding must be 'VALID' or 'SAME', got {padding!r}")
        bound = 1 / (size * size * channels) ** 0.5
        weight_key, bias_key = jax.random.split(key)
        self.weight = jax.random.uniform(weight_key, (size, size, channels, out), minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(bias_key, (out,), minval=-bound, maxval=bound)
        self.padding = padding

    def __call__(self, x: Float[Array, "height width channels"]) -> Float[Array, "rows columns out"]:
        return conv2d(x, self.weight, self.padding) + self.bias[None, None]
