"""Networks, built by the names that params.yaml uses."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array

from iterlin_lab.nets import module
from iterlin_lab.nets.shared.initialise import initialise


def build(name: str, input_shape: tuple[int, ...], num_classes: int, *, key: Array, **settings: Any) -> Any:
    """The network `name` for inputs of this shape, with freshly drawn parameters."""
    return build_with_state(name, input_shape, num_classes, key=key, **settings)[0]


@eqx.filter_jit  # one small program instead of dozens
def build_with_state(
    name: str, input_shape: tuple[int, ...], num_classes: int, *, initialisation: str, key: Array, **settings: Any
) -> tuple[Any, Any]:
    """The network, and the state that it starts with, which is None for a network without one."""
    build_key, weight_key = jax.random.split(key)
    made = eqx.nn.make_with_state(module(name))
    model, state = made(input_shape, num_classes, **settings, key=build_key)
    return initialise(model, initialisation, weight_key), state if jax.tree.leaves(state) else None
