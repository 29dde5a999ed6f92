"""Seeded splits, standardised with training statistics."""

import sys
from collections.abc import Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Split = tuple[Float[Array, "n ..."], Int[Array, " n"]]


def read_data(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file that the stage `prepare` has written (see `Examples`). Nothing in it is executed.

    **Raises**: `SystemExit` with one line that names the file, if it is not such a file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in ("images", "labels", "official_test")}
        _check(**data)
    except Exception as error:  # a file of junk fails in many ways
        reason = " ".join(str(error).split())[:200]
        sys.exit(f"{path} is not what the stage prepare has written ({reason}): remove it, and run `dvc repro` again")
    return data


def _check(images: np.ndarray, labels: np.ndarray, official_test: np.ndarray) -> None:
    if not (images.ndim == 4 and labels.shape == official_test.shape == (len(images),) and len(images)):
        raise ValueError("its images, labels and mask do not belong together")
    kinds = images.dtype.kind, labels.dtype.kind, official_test.dtype.kind
    if kinds[0] not in "uif" or kinds[1:] != ("i", "b") or not np.isfinite(images).all():
        raise ValueError("its images, labels and mask are not numbers, whole numbers and truth values")
    if not 0 <= labels.min() <= labels.max() < len(labels):
        raise ValueError("its labels are no classes")


def draw_splits(
    data: Mapping[str, np.ndarray], sizes: dict[str, int], key: Array
) -> tuple[dict[str, Split], tuple[float, float]]:
    """Disjoint random splits of the given sizes, and the statistics of the first, which is the training set.

    `data` has `images`, `labels` and `official_test` (see `Examples`). A test split of the data set's own is kept
    apart: the split named `test` is drawn from it, the others from the rest. All are shifted and scaled by the mean and
    the standard deviation of the training pixels, which are the second answer. Pixels that are all the same are only
    shifted, as if the deviation were 1.

    **Raises**: `ValueError` if there are fewer examples than these sizes ask for.
    """
    official = np.flatnonzero(data["official_test"])
    rest = np.flatnonzero(~data["official_test"])
    order = rest[np.asarray(jax.random.permutation(key, len(rest)))]
    own = {name: size for name, size in sizes.items() if name != "test" or len(official) == 0}
    if sum(own.values()) > len(rest) or ("test" not in own and sizes["test"] > len(official)):
        raise ValueError(f"splits of {sizes} examples are more than the {len(rest)} and {len(official)} for testing")
    chosen = dict(zip(own, np.split(order, np.cumsum(list(own.values())))[:-1], strict=True))
    if "test" not in own:
        drawn = np.asarray(jax.random.permutation(jax.random.fold_in(key, 1), len(official)))
        chosen["test"] = official[drawn][: sizes["test"]]

    train = _floats(data["images"][chosen[next(iter(sizes))]])
    mean, deviation = train.mean(), train.std() or np.ones_like(train, shape=())

    def standardised(name: str) -> Split:
        images, labels = data["images"][chosen[name]], data["labels"][chosen[name]]
        return jnp.asarray((_floats(images) - mean) / deviation, float), jnp.asarray(labels)

    return {name: standardised(name) for name in sizes}, (float(mean), float(deviation))


def _floats(images: np.ndarray) -> np.ndarray:
    return images if np.issubdtype(images.dtype, np.floating) else images.astype(np.float32)
