"""Networks, by the names that params.yaml uses."""

import equinox as eqx
import jax
from jaxtyping import Array

from iterlin_lab.nets.initialise import initialise as initialise
from iterlin_lab.nets.lenet import LeNet as LeNet
from iterlin_lab.nets.mlp import MLP as MLP

NETS = {"lenet": LeNet, "mlp": MLP}


@eqx.filter_jit  # one small program instead of dozens
def build(name: str, input_shape: tuple[int, ...], num_classes: int, *, initialisation: str, key: Array, **settings):
    """The network `name` for inputs of this shape, with freshly drawn parameters."""
    build_key, weight_key = jax.random.split(key)
    model = NETS[name](input_shape, num_classes, **settings, key=build_key)
    return initialise(model, initialisation, weight_key)
