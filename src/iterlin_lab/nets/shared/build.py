"""Networks, built by the names that params.yaml uses."""

import equinox as eqx
import jax
from jaxtyping import Array

from iterlin_lab.nets import module
from iterlin_lab.nets.shared.initialise import initialise


@eqx.filter_jit  # one small program instead of dozens
def build(name: str, input_shape: tuple[int, ...], num_classes: int, *, initialisation: str, key: Array, **settings):
    """The network `name` for inputs of this shape, with freshly drawn parameters."""
    build_key, weight_key = jax.random.split(key)
    model = module(name)(input_shape, num_classes, **settings, key=build_key)
    return initialise(model, initialisation, weight_key)
