"""A multilayer perceptron with ReLU on flattened inputs."""

import math

import equinox as eqx
import jax
from jaxtyping import Array, Float


class MLP(eqx.Module):
    """`depth` hidden layers of `width` neurons."""

    layers: eqx.nn.MLP

    def __init__(self, input_shape: tuple[int, ...], num_classes: int, *, width: int = 50, depth: int = 5, key: Array):
        self.layers = eqx.nn.MLP(math.prod(input_shape), num_classes, width, depth, jax.nn.relu, key=key)

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, " classes"]:
        return self.layers(x.ravel())
