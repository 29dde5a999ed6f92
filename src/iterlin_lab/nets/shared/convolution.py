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
    stride: int = 1,
) -> Float[Array, "rows columns out"]:
    """Cross-correlation of one image with `"VALID"` or `"SAME"` padding; a stride leaves out rows and columns of it."""
    if jax.default_backend() != "cpu":
        around = [_around(len(kernel), padding)] * 2
        return jax.lax.conv_general_dilated(x[None], kernel, (stride,) * 2, around, dimension_numbers=DIMENSIONS)[0]
    return conv2d_by_rows(x, kernel, padding, stride)


def _around(size: int, padding: str) -> tuple[int, int]:
    """Zeros before and after the image: where strides leave out rows, XLA's own "SAME" has others."""
    return ((size - 1) // 2, size // 2) if padding == "SAME" else (0, 0)


def conv2d_by_rows(x: Array, kernel: Array, padding: str, stride: int = 1) -> Array:
    """The convolution by matrix products, each for as many rows of the kernel as make it `LENGTH` long."""
    return _by_rows(x, kernel, padding, stride)


# The derivatives keep the image alone and unfold it again: reading back `size` times as much costs more.
@partial(jax.checkpoint, static_argnums=(2, 3), prevent_cse=False)
def _by_rows(x: Array, kernel: Array, padding: str, stride: int) -> Array:
    size, _, channels, out = kernel.shape
    if padding == "SAME":
        x = jnp.pad(x, (around := _around(size, padding), around, (0, 0)))
    rows, columns = x.shape[0] - size + 1, x.shape[1] - size + 1
    unfolded = jnp.concatenate([x[:, j : j + columns : stride] for j in range(size)], axis=-1)
    at_once = max(1, LENGTH // (size * channels))

    def product(first: int) -> Array:
        block = range(first, min(first + at_once, size))
        patches = jnp.concatenate([unfolded[i : i + rows : stride] for i in block], axis=-1)
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
    """A convolutional layer on images (height, width, channels), with a square kernel."""

    weight: Float[Array, "size size channels out"]
    bias: Float[Array, " out"] | None
    padding: str = eqx.field(static=True)
    stride: int = eqx.field(static=True)

    def __init__(
        self, channels: int, out: int, size: int, padding: str, *, stride: int = 1, use_bias: bool = True, key: Array
    ):
        if padding not in ("VALID", "SAME"):
            raise ValueError(f"padding must be 'VALID' or 'SAME', got {padding!r}")
        bound = 1 / (size * size * channels) ** 0.5
        weight_key, bias_key = jax.random.split(key)
        self.weight = jax.random.uniform(weight_key, (size, size, channels, out), minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(bias_key, (out,), minval=-bound, maxval=bound) if use_bias else None
        self.padding = padding
        self.stride = stride

    def __call__(self, x: Float[Array, "height width channels"]) -> Float[Array, "rows columns out"]:
        x = conv2d(x, self.weight, self.padding, self.stride)
        return x if self.bias is None else x + self.bias[None, None]
