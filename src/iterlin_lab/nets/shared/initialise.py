"""Initialisations, by name. They decide the regime: λ_max at initialisation differs by orders of magnitude."""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from iterlin_lab.nets.shared.convolution import Conv2d

Model = TypeVar("Model")
_init = jax.nn.initializers
PYTORCH = "pytorch"
INITIALISERS = {
    "he_normal": _init.he_normal,
    "glorot_uniform": _init.glorot_uniform,
    "lecun_normal": _init.lecun_normal,
    # PyTorch's default for these layers: U(−b, b) with b = 1/√fan_in.
    PYTORCH: lambda **axes: _init.variance_scaling(1 / 3, "fan_in", "uniform", **axes),
}

LAYERS = (eqx.nn.Linear, Conv2d)
NORMS = (eqx.nn.BatchNorm,)  # stay as equinox makes them: they scale by one and shift by zero


def initialise(model: Model, name: str, key: Array) -> Model:
    """Draw the weights of all linear and convolutional layers anew, and set their biases to zero. `NORMS` stay.

    As in PyTorch, `pytorch` draws the biases too, from the distribution of the weights.

    **Raises**: `ValueError` for a name that is not in `INITIALISERS`, or for a parameter of any other layer, which
    would stay as it was.
    """
    if name not in INITIALISERS:
        raise ValueError(f"unknown initialisation {name!r}; known are {', '.join(INITIALISERS)}")
    for path, node in jax.tree_util.tree_leaves_with_path(model, is_leaf=_is_known):
        if eqx.is_inexact_array(node):
            known = ", ".join(f"{kind.__module__}.{kind.__name__}" for kind in (*LAYERS, *NORMS))
            raise ValueError(
                f"initialise knows {known} alone, and "
                f"not the layer of the parameter {jax.tree_util.keystr(path)}: draw it before, or build it of these"
            )

    def drawn(layer, key):
        in_axis, out_axis = (-2, -1) if isinstance(layer, Conv2d) else (1, 0)
        weight = INITIALISERS[name](in_axis=in_axis, out_axis=out_axis)(key, layer.weight.shape, layer.weight.dtype)
        bias = jax.tree.map(jnp.zeros_like, layer.bias)  # None stays None
        if name == PYTORCH and bias is not None:
            bound = (layer.weight.size // layer.weight.shape[out_axis]) ** -0.5
            key = jax.random.fold_in(key, 1)
            bias = jax.random.uniform(key, bias.shape, bias.dtype, -bound, bound)
        return eqx.tree_at(lambda x: (x.weight, x.bias), layer, (weight, bias), is_leaf=lambda x: x is None)

    old = layers(model)
    keys = jax.random.split(key, len(old))
    return eqx.tree_at(layers, model, [drawn(layer, key) for layer, key in zip(old, keys, strict=True)])


def layers(model: Any) -> list[Any]:
    """The layers of a network, in the order in which an example meets them (`nets.contract`)."""
    return [node for node in jax.tree.leaves(model, is_leaf=_is_layer) if _is_layer(node)]


def _is_layer(node) -> bool:
    return isinstance(node, LAYERS)


def _is_known(node) -> bool:
    return isinstance(node, (*LAYERS, *NORMS))
