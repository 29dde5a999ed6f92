"""The parts of a plain step of LeNet, ours and PyTorch's: which of them the ratio of whole steps comes from.

Each runs in a loop, as in training. It takes what the loop carries, so that no part is moved out of it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.jax_steps import looped
from benchmarks.problems import LeNetProblem
from benchmarks.torch_steps import torch_on
from iterlin_lab.nets.shared.convolution import conv2d, max_pool

TINY = 1e-20  # of what is computed goes into the next step


class Part(NamedTuple):
    """One of `forward`, `weights` and `inputs` (the derivatives) of a layer: a convolution, or the pooling after it."""

    layer: int  # from 0
    of: str
    pooling: bool = False

    @property
    def name(self) -> str:
        kind = ("pooling" if self.pooling else "convolution") + f" {self.layer + 1}"
        return f"{kind}, {'forward' if self.of == 'forward' else f'derivative for {self.of}'}"


PARTS = [
    Part(0, "forward"),
    Part(0, "weights"),
    Part(1, "forward"),
    Part(1, "weights"),
    Part(1, "inputs"),
    *(Part(layer, of, pooling=True) for layer in range(2) for of in ("forward", "inputs")),
]


def arrays(part: Part, problem: LeNetProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs (batch, height, width, channels), weights, and the derivative of the loss by the outputs."""
    sizes, rng = [problem.shape[0], *problem.sizes()], np.random.default_rng(0)
    before, after = sizes[2 * part.layer + part.pooling :][:2]
    channels = problem.channels if part.layer or part.pooling else problem.shape[2]
    shapes = (
        (problem.batch, before, before, channels),
        (problem.kernel, problem.kernel, channels, problem.channels),
        (problem.batch, after, after, problem.channels),
    )
    x, weights, cotangent = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    return x, weights, cotangent


def ours(part: Part, problem: LeNetProblem) -> Callable[[], None]:
    """The package's layers."""

    def apply(x: jax.Array, weights: jax.Array) -> jax.Array:
        return jax.vmap(max_pool if part.pooling else partial(conv2d, kernel=weights, padding=problem.padding))(x)

    def computed(x: jax.Array, weights: jax.Array, cotangent: jax.Array) -> jax.Array:
        if part.of == "forward":
            return apply(x, weights)
        if part.of == "weights":
            return jax.vjp(partial(apply, x), weights)[1](cotangent)[0]
        return jax.vjp(lambda x: apply(x, weights), x)[1](cotangent)[0]

    def step(carried: jax.Array, x: jax.Array, weights: jax.Array, cotangent: jax.Array) -> jax.Array:
        return TINY * jnp.max(computed(x * (1 + carried), weights * (1 + carried), cotangent))

    return looped(step, problem, jnp.float32(0), *map(jnp.asarray, arrays(part, problem)))


def torchs(part: Part, problem: LeNetProblem) -> Callable[[], None]:
    """PyTorch's, on images that lie channels last."""
    torch, _ = torch_on()
    x, weights, cotangent = map(torch.from_numpy, arrays(part, problem))
    x, cotangent = x.permute(0, 3, 1, 2), cotangent.permute(0, 3, 1, 2)
    weights = weights.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)

    def pooled() -> Any:
        with torch.set_grad_enabled(part.of != "forward"):
            inputs = x.detach().requires_grad_(part.of != "forward")
            found = torch.nn.functional.max_pool2d(inputs, 2)
            return found if part.of == "forward" else torch.autograd.grad(found, inputs, cotangent)

    def convolved() -> Any:
        if part.of == "forward":
            return torch.nn.functional.conv2d(x, weights)
        mask = [part.of == "inputs", part.of == "weights", False]
        backward = torch.ops.aten.convolution_backward
        return backward(cotangent, x, weights, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask)

    def run() -> None:
        for _ in range(problem.steps):
            pooled() if part.pooling else convolved()

    return run
