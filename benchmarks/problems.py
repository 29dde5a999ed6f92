"""The problems whose steps are timed: random data, since a step costs the same on any."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

CLASSES = 10


class NotInstalled(Exception):
    """The library of the other side is missing, or its build for the device of jax."""


@dataclass(frozen=True)
class Problem(ABC):
    """A network on images; a step sees `batch` of them."""

    name: str
    batch: int
    shape: tuple[int, int, int] = (32, 32, 3)
    steps: int = 1  # that are timed together

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (batch, height, width, channels) and labels (batch,)."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((self.batch, *self.shape), dtype=np.float32)
        return x, rng.integers(0, CLASSES, self.batch, dtype=np.int32)

    @abstractmethod
    def model(self, key: Any) -> Any:
        """The network as an equinox module."""

    @abstractmethod
    def layers(self) -> Iterator[int]:
        """How many products of two numbers each layer takes for one image."""

    def flops(self, input_gradients: int, others: int) -> int:
        """Arithmetic of a step: `others` products in each layer, and `input_gradients` more after the first."""
        first, *rest = self.layers()
        return 2 * self.batch * (others * (first + sum(rest)) + input_gradients * sum(rest))


@dataclass(frozen=True)
class LeNetProblem(Problem):
    """The papers' LeNet or a smaller one."""

    channels: int = 50
    kernel: int = 5
    padding: str = "VALID"
    widths: tuple[int, int] = (120, 84)

    def sizes(self) -> list[int]:
        """The heights (and widths) of the feature maps after each convolution and each pooling."""
        size, found = self.shape[0], []
        for _ in range(2):
            size = size - self.kernel + 1 if self.padding == "VALID" else size
            found += [size, size // 2]
            size //= 2
        return found

    def model(self, key: Any) -> Any:
        from iterlin_lab.nets.lenet.module import LeNet

        channels = (self.channels, self.channels)
        settings = {"kernel": self.kernel, "padding": self.padding, "widths": self.widths}
        return LeNet(self.shape, CLASSES, channels=channels, **settings, key=key)

    def layers(self) -> Iterator[int]:
        first, _, second, last = self.sizes()
        yield first**2 * self.kernel**2 * self.shape[2] * self.channels
        yield second**2 * self.kernel**2 * self.channels**2
        yield from (a * b for a, b in itertools.pairwise((last**2 * self.channels, *self.widths, CLASSES)))


@dataclass(frozen=True)
class ResNetProblem(Problem):
    """NET-RESNET without BatchNorm: strided and 1×1 convolutions beside the usual ones."""

    channels: int = 64
    blocks: tuple[int, ...] = (2, 2, 2, 2)

    def model(self, key: Any) -> Any:
        from iterlin_lab.nets.resnet.module import ResNet

        return ResNet(self.shape, CLASSES, channels=self.channels, blocks=self.blocks, with_norm=False, key=key)

    def layers(self) -> Iterator[int]:
        size, before = self.shape[0], self.channels
        yield size**2 * 9 * self.shape[2] * before
        for stage, number in enumerate(self.blocks):
            out = self.channels * 2**stage
            size = -(-size // 2) if stage else size
            for _ in range(number):
                yield from (size**2 * 9 * before * out, size**2 * 9 * out**2)
                if before != out:
                    yield size**2 * before * out
                before = out
        yield before * CLASSES


@dataclass(frozen=True)
class ViTProblem(Problem):
    """NET-VIT, with tokens of size `width`."""

    width: int = 192
    patch: int = 4
    heads: int = 3
    depth: int = 6

    @property
    def tokens(self) -> int:
        """Squares of an image."""
        return (self.shape[0] // self.patch) ** 2

    def model(self, key: Any) -> Any:
        from iterlin_lab.nets.vit.module import ViT

        settings = {"width": self.width, "heads": self.heads, "hidden": 4 * self.width, "depth": self.depth}
        return ViT(self.shape, CLASSES, patch=self.patch, **settings, key=key)

    def layers(self) -> Iterator[int]:
        tokens, width = self.tokens, self.width
        yield tokens * self.patch**2 * self.shape[2] * width
        for _ in range(self.depth):
            yield from (4 * tokens * width**2, 2 * tokens**2 * width, 8 * tokens * width**2)
        yield width * CLASSES


MINI = LeNetProblem("LeNet, mini-batch 256", 256)
FULL = LeNetProblem("LeNet, full batch 1024", 1024)
PAPER = LeNetProblem("LeNet, full batch 45000", 45000)
SMALL = LeNetProblem("LeNet, 64 examples", 64, steps=2)
NARROW = LeNetProblem("LeNet, 25 channels, 256 examples", 256, channels=25)
PHASE = LeNetProblem(
    "digits, a phase of 5000 steps", 150, (8, 8, 1), 5000, channels=8, kernel=3, padding="SAME", widths=(64, 32)
)
LONG = replace(PHASE, name="digits, a phase of 500000 steps", steps=500_000)
DIGITS = replace(PHASE, name="digits, full batch 150", steps=100)
RESNET = ResNetProblem("ResNet-18, mini-batch 32", 32)
VIT = ViTProblem("ViT, mini-batch 32", 32)


def images(n: int, channels: int) -> LeNetProblem:
    """LeNet on so many images, as few as have a dual."""
    return LeNetProblem(f"{n} images, {channels} channels", n, channels=channels)


DUAL = [images(100, 8), images(100, 50), images(250, 16)]
LARGE_DUAL = [images(250, 50), images(500, 16), images(500, 50), images(1000, 8), images(1000, 16)]
