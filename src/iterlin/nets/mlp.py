"""A multilayer perceptron with ReLU on flattened inputs."""

import math

import equinox as eqx
import jax
from jaxtyping import Array, Float


class MLP(eqx.Module):
    """`depth` hidden layers of `width` neurons. With one, and no `output_bias`, it is w₂σ(w₁ᵀx + b) (T fig. 7)."""

    layers: eqx.nn.MLP

    def __init__(
        self,
        input_shape: tuple[int, ...],
        num_classes: int,
        *,
        width: int = 50,
        depth: int = 5,
        output_bias: bool = True,
        key: Array,
    ):
        sizes = math.prod(input_shape), num_classes, width, depth
        self.layers = eqx.nn.MLP(*sizes, jax.nn.relu, use_final_bias=output_bias, key=key)

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, " classes"]:
        return self.layers(x.ravel())
