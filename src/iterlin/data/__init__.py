"""Data sets, by the names that params.yaml uses. Their sizes are known without loading them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from iterlin.data import digits


class DataSet(NamedTuple):
    """What a data set is, and how to load it: images (n, height, width, channels) and labels (n,)."""

    load: Callable[[], tuple[np.ndarray, np.ndarray]]
    num_examples: int
    image_shape: tuple[int, int, int]
    num_classes: int
    source: str


DATA_SETS = {
    "digits": DataSet(digits.load, 1797, (8, 8, 1), 10, digits.SOURCE),
}
