"""Seeded splits, standardised with training statistics."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Split = tuple[Float[Array, "n ..."], Int[Array, " n"]]


def draw_splits(
    data: Mapping[str, np.ndarray], sizes: dict[str, int], key: Array
) -> tuple[dict[str, Split], tuple[float, float]]:
    """Disjoint random splits of the given sizes, of which the first is the training set, and its statistics.

    `data` has `images`, `labels` and `official_test` (see `Examples`). A test split of the data set's own is kept
    apart: the split named `test` is drawn from it, the others from the rest. All are shifted and scaled by the mean and
    the standard deviation of the training pixels, which are the second answer.
    """
    official = np.flatnonzero(data["official_test"])
    rest = np.flatnonzero(~data["official_test"])
    order = rest[np.asarray(jax.random.permutation(key, len(rest)))]
    own = {name: size for name, size in sizes.items() if name != "test" or len(official) == 0}
    chosen = dict(zip(own, np.split(order, np.cumsum(list(own.values())))[:-1], strict=True))
    if "test" not in chosen:
        drawn = np.asarray(jax.random.permutation(jax.random.fold_in(key, 1), len(official)))
        chosen["test"] = official[drawn][: sizes["test"]]

    train = _floats(data["images"][chosen[next(iter(sizes))]])
    mean, deviation = train.mean(), train.std()

    def standardised(name: str) -> Split:
        images, labels = data["images"][chosen[name]], data["labels"][chosen[name]]
        return jnp.asarray((_floats(images) - mean) / deviation), jnp.asarray(labels)

    return {name: standardised(name) for name in sizes}, (float(mean), float(deviation))


def _floats(images: np.ndarray) -> np.ndarray:
    return images if np.issubdtype(images.dtype, np.floating) else images.astype(np.float32)
