"""NET-RESNET, ResNet-18 in its form for CIFAR (T C.2.2), of any width and depth."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from iterlin import EquinoxModel
from iterlin_lab.nets.resnet import Norm
from iterlin_lab.nets.shared.convolution import Conv2d

AXIS = "batch"  # along which BatchNorm meets the examples


class Normalised(eqx.Module):
    """A convolution with BatchNorm in place of its bias, or with a bias."""

    convolution: Conv2d
    norm: eqx.nn.BatchNorm | None

    def __init__(self, channels: int, out: int, size: int, *, stride: int = 1, with_norm: bool, key: Array):
        self.convolution = Conv2d(channels, out, size, "SAME", stride=stride, use_bias=not with_norm, key=key)
        self.norm = eqx.nn.BatchNorm(out, AXIS, mode="batch") if with_norm else None

    def __call__(self, x: Float[Array, "height width channels"], state: Any) -> tuple[Float[Array, "_ _ _"], Any]:
        x = self.convolution(x)
        if self.norm is None:
            return x, state
        x, state = self.norm(jnp.moveaxis(x, -1, 0), state)  # which has channels first
        return jnp.moveaxis(x, 0, -1), state


class Block(eqx.Module):
    """A residual block: x + c·(two 3×3 convolutions). Where their shape is another, x goes through a 1×1 convolution.

    Without BatchNorm c = 1/√L in a network of L blocks, so that no depth makes the outputs or their derivatives at
    initialisation grow (Hayou et al. 2021, "Stable ResNet", their uniform scaling). With BatchNorm it is one.
    """

    first: Normalised
    second: Normalised
    shortcut: Normalised | None
    scale: float = eqx.field(static=True)

    def __init__(self, channels: int, out: int, stride: int, scale: float, *, with_norm: bool, key: Array):
        keys = jax.random.split(key, 3)
        self.first = Normalised(channels, out, 3, stride=stride, with_norm=with_norm, key=keys[0])
        self.second = Normalised(out, out, 3, with_norm=with_norm, key=keys[1])
        same = stride == 1 and channels == out
        self.shortcut = None if same else Normalised(channels, out, 1, stride=stride, with_norm=with_norm, key=keys[2])
        self.scale = scale

    def __call__(self, x: Float[Array, "height width channels"], state: Any) -> tuple[Float[Array, "_ _ _"], Any]:
        branch, state = self.first(x, state)
        branch, state = self.second(jax.nn.relu(branch), state)
        if self.shortcut is not None:
            x, state = self.shortcut(x, state)
        return jax.nn.relu(x + self.scale * branch), state


class ResNet(eqx.Module):
    """A 3×3 convolution, stages of residual blocks, the mean over the image, and one output a class.

    Each stage but the first begins with stride 2 and has twice as many channels. ResNet-18 has four stages of two
    blocks, from 64 channels. With BatchNorm it is called with its state, without it on an example alone.
    """

    stem: Normalised
    blocks: tuple[Block, ...]
    head: eqx.nn.Linear

    def __init__(
        self,
        input_shape: tuple[int, int, int],
        num_classes: int,
        *,
        channels: int = 64,
        blocks: Sequence[int] = (2, 2, 2, 2),
        with_norm: bool,
        key: Array,
    ):
        stem_key, block_key, head_key = jax.random.split(key, 3)
        keys = iter(jax.random.split(block_key, sum(blocks)))
        scale = 1.0 if with_norm else sum(blocks) ** -0.5
        self.stem = Normalised(input_shape[2], channels, 3, with_norm=with_norm, key=stem_key)
        built, before = [], channels
        for stage, number in enumerate(blocks):
            out = channels * 2**stage
            for place in range(number):
                stride = 2 if stage and not place else 1
                built.append(Block(before, out, stride, scale, with_norm=with_norm, key=next(keys)))
                before = out
        self.blocks = tuple(built)
        self.head = eqx.nn.Linear(before, num_classes, key=head_key)

    def __call__(self, x: Float[Array, "height width channels"], state: Any = None) -> Any:
        x, new = self.stem(x, state)
        x = jax.nn.relu(x)
        for block in self.blocks:
            x, new = block(x, new)
        outputs = self.head(jnp.mean(x, axis=(0, 1)))
        return outputs if state is None else (outputs, new)


def resnet(input_shape: tuple[int, int, int], num_classes: int, *, norm: Norm = "batch", **settings: Any) -> Any:
    """A `ResNet` without BatchNorm (`"none"`), or one that knows its batch, with these statistics."""
    if norm == "none":
        return ResNet(input_shape, num_classes, **settings, with_norm=False)
    return EquinoxModel(ResNet(input_shape, num_classes, **settings, with_norm=True), AXIS, norm)


MODULE = resnet
