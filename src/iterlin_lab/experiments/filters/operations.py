"""About how many operations the tangent kernels take."""

import math

import equinox as eqx
import jax

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.augmentation.settings import compared
from iterlin_lab.experiments.filters.settings import Scope
from iterlin_lab.nets.shared.build import build


def operations(scale: Scope) -> float:
    """The products of all rows of the Jacobian with each other, for every network that E-AUG may keep."""
    data, own = DATA_SETS[scale.data.name], scale.augmentation
    shape = {"input_shape": data.image_shape, "num_classes": data.num_classes}
    model = eqx.filter_eval_shape(build, **scale.net.model_dump(), **shape, key=jax.random.key(0))
    num_params = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(model) if hasattr(leaf, "shape"))
    networks = len(compared(own)) * own.num_seeds * own.records_per_decade * len(str(own.num_steps))
    return networks * 2 * scale.filters.num_examples**2 * data.num_classes * num_params
