"""Seeded splits, standardised with training statistics."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Split = tuple[Float[Array, "n ..."], Int[Array, " n"]]


def draw_splits(images: np.ndarray, labels: np.ndarray, sizes: dict[str, int], key: Array) -> dict[str, Split]:
    """Disjoint random splits of the given sizes; the first is the training set.

    All are shifted and scaled by the mean and standard deviation of the training pixels.
    """
    order = np.asarray(jax.random.permutation(key, len(labels)))
    ends = np.cumsum(list(sizes.values()))
    parts = dict(zip(sizes, np.split(order, ends)[:-1], strict=True))
    train = images[next(iter(parts.values()))]
    mean, deviation = train.mean(), train.std()
    return {
        name: (jnp.asarray((images[chosen] - mean) / deviation), jnp.asarray(labels[chosen]))
        for name, chosen in parts.items()
    }
