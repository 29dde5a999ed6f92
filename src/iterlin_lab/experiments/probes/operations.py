"""About how many operations the probes take, at most."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from iterlin._records import log_spaced_steps
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.augmentation.settings import compared
from iterlin_lab.experiments.probes.run import probed
from iterlin_lab.experiments.probes.settings import Scope
from iterlin_lab.nets.shared.build import build


def operations(scale: Scope) -> float:
    """All iterations of all probes: each takes two products of the features with as many rows as there are classes."""
    data, own = DATA_SETS[scale.data.name], scale.augmentation
    kept = log_spaced_steps(own.num_steps, own.records_per_decade)
    networks = len(compared(own)) * own.num_seeds * len(probed(scale, kept))
    shape = {"input_shape": data.image_shape, "num_classes": data.num_classes}
    model = eqx.filter_eval_shape(build, **scale.net.model_dump(), **shape, key=jax.random.key(0))
    layers = eqx.filter_eval_shape(
        lambda model, x: model.activations(x), model, jax.ShapeDtypeStruct(data.image_shape, jnp.result_type(float))
    )
    features = sum(math.prod(layer.shape) for layer in layers)
    iterations = len(scale.probes.strengths) * scale.probes.max_iterations
    return networks * iterations * 4 * scale.data.num_train * features * data.num_classes
