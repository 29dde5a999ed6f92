"""A multilayer perceptron with ReLU on flattened inputs."""

import math

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree


class MLP(eqx.Module):
    """`depth` hidden layers of `width` neurons. With one, and no `output_bias`, it is w₂σ(w₁ᵀx + b) (T fig. 7)."""

    layers: eqx.nn.MLP
    input_shape: tuple[int, ...] = eqx.field(static=True)

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
        self.input_shape = input_shape

    @property
    def filters(self) -> Float[Array, "*input neurons"]:
        """The weights of the first layer."""
        return self.layers.layers[0].weight.T.reshape(*self.input_shape, -1)

    @property
    def parts(self) -> tuple[PyTree[Array], ...]:
        """The parameters of the first layer, of the second and of the rest."""
        return self.layers.layers[0], self.layers.layers[1], self.layers.layers[2:]

    def activations(self, x: Float[Array, "..."]) -> list[Float[Array, " width"]]:
        """What leaves the first and the second hidden layer.

        **Raises**: `ValueError` if there is one alone.
        """
        first, second, *others = self.layers.layers
        if not others:
            raise ValueError("depth must be at least 2, for there is no second hidden layer")
        hidden = jax.nn.relu(first(x.ravel()))
        return [hidden, jax.nn.relu(second(hidden))]

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, " classes"]:
        return self.layers(x.ravel())


MODULE = MLP
