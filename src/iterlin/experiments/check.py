"""Trace the network at its true shapes: what params.yaml asks for can be built, and no step of it is computed."""

import sys
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp

from iterlin.config import Scale
from iterlin.data import DATA_SETS
from iterlin.nets import build


def trace(scale: Scale) -> None:
    """Exits with one line that names the key if the network cannot take the data."""
    data = DATA_SETS[scale.data.name]
    make = partial(build, **scale.net.model_dump(), input_shape=data.image_shape, num_classes=data.num_classes)
    images = jax.ShapeDtypeStruct((scale.data.num_train, *data.image_shape), jnp.float32)
    try:
        model = eqx.filter_eval_shape(make, key=jax.random.key(0))
        eqx.filter_eval_shape(lambda model, x: jax.vmap(model)(x), model, images)
    except ValueError as error:
        sys.exit(f"params.yaml: scale.net: {error}")
