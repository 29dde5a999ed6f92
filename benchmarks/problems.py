"""The problems whose steps are timed: random data, since a step costs the same on any."""

import itertools
from dataclasses import dataclass, replace

import numpy as np

CLASSES = 10


@dataclass(frozen=True)
class LeNetProblem:
    """The papers' LeNet or a smaller one; a step sees `batch` examples."""

    name: str
    batch: int
    shape: tuple[int, int, int] = (32, 32, 3)
    channels: int = 50
    kernel: int = 5
    padding: str = "VALID"
    widths: tuple[int, int] = (120, 84)
    steps: int = 1  # that are timed together

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (batch, height, width, channels) and labels (batch,)."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((self.batch, *self.shape), dtype=np.float32)
        return x, rng.integers(0, CLASSES, self.batch, dtype=np.int32)

    def sizes(self) -> list[int]:
        """The heights (and widths) of the feature maps after each convolution and each pooling."""
        size, found = self.shape[0], []
        for _ in range(2):
            size = size - self.kernel + 1 if self.padding == "VALID" else size
            found += [size, size // 2]
            size //= 2
        return found

    def flops(self, input_gradients: int, others: int) -> int:
        """Arithmetic of a step: `others` products in each layer, and `input_gradients` more after the first."""
        first, _, second, last = self.sizes()
        patch = self.kernel**2 * self.channels
        layers = [first**2 * self.kernel**2 * self.shape[2] * self.channels, second**2 * patch * self.channels]
        dense = (last**2 * self.channels, *self.widths, CLASSES)
        layers += [a * b for a, b in itertools.pairwise(dense)]
        return 2 * self.batch * (others * sum(layers) + input_gradients * sum(layers[1:]))


MINI = LeNetProblem("LeNet, mini-batch 256", 256)
FULL = LeNetProblem("LeNet, full batch 1024", 1024)
PAPER = LeNetProblem("LeNet, full batch 45000", 45000)
SMALL = LeNetProblem("LeNet, 64 examples", 64, steps=2)
NARROW = LeNetProblem("LeNet, 25 channels, 256 examples", 256, channels=25)
PHASE = LeNetProblem("digits, a phase of 5000 steps", 150, (8, 8, 1), 8, 3, "SAME", (64, 32), steps=5000)
LONG = replace(PHASE, name="digits, a phase of 500000 steps", steps=500_000)
DIGITS = LeNetProblem("digits, full batch 150", 150, (8, 8, 1), 8, 3, "SAME", (64, 32), steps=100)
