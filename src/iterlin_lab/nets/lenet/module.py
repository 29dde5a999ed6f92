"""NET-LENET, the papers' "simple CNN" (T C.2.1)."""

import itertools
from collections.abc import Sequence

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from iterlin_lab.nets.shared.convolution import Conv2d, max_pool


class LeNet(eqx.Module):
    """Two convolutions with ReLU and 2×2 max-pooling, then dense layers with ReLU and one output a class.

    The papers' has 50 channels, 5×5 kernels, dense layers of 120 and 84 and, as chosen here, no padding: with 32×32
    inputs 1250 values enter the dense layers. The softmax is part of the loss.

    **Raises**: `ValueError` if the images are too small for the kernels.
    """

    convolutions: tuple[Conv2d, Conv2d]
    dense: tuple[eqx.nn.Linear, ...]

    def __init__(
        self,
        input_shape: tuple[int, int, int],
        num_classes: int,
        *,
        channels: Sequence[int] = (50, 50),
        kernel: int = 5,
        padding: str = "VALID",
        widths: Sequence[int] = (120, 84),
        key: Array,
    ):
        height, width = (_size_after(size, kernel, padding) for size in input_shape[:2])
        if min(height, width) < 1:
            raise ValueError(
                f"images of {input_shape[0]}×{input_shape[1]} are too small for two {kernel}×{kernel} convolutions "
                f"with {padding} padding: use a smaller kernel or SAME padding"
            )
        keys = jax.random.split(key, 3 + len(widths))
        self.convolutions = (
            Conv2d(input_shape[2], channels[0], kernel, padding, key=keys[0]),
            Conv2d(channels[0], channels[1], kernel, padding, key=keys[1]),
        )
        sizes = (height * width * channels[1], *widths, num_classes)
        self.dense = tuple(
            eqx.nn.Linear(*pair, key=key) for pair, key in zip(itertools.pairwise(sizes), keys[2:], strict=True)
        )

    @property
    def filters(self) -> Float[Array, "height width channels filters"]:
        """The weights of the first layer."""
        return self.convolutions[0].weight

    @property
    def parts(self) -> tuple[PyTree[Array], ...]:
        """The parameters of the first layer, of the second and of the rest."""
        return *self.convolutions, self.dense

    def activations(self, x: Float[Array, "height width channels"]) -> list[Float[Array, "_ _ _"]]:
        """What leaves the first and the second convolutional layer, after pooling."""
        layers = []
        for convolution in self.convolutions:
            # ReLU and max commute; pooling first leaves a quarter of the ReLUs.
            x = jax.nn.relu(max_pool(convolution(x)))
            layers.append(x)
        return layers

    def __call__(self, x: Float[Array, "height width channels"]) -> Float[Array, " classes"]:
        x = self.activations(x)[-1].ravel()
        for layer in self.dense[:-1]:
            x = jax.nn.relu(layer(x))
        return self.dense[-1](x)


def _size_after(size: int, kernel: int, padding: str) -> int:
    for _ in range(2):
        size = (size - kernel + 1 if padding == "VALID" else size) // 2
    return size


MODULE = LeNet
