"""What a data set is, and what loading it gives."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Examples(NamedTuple):
    """Images (n, height, width, channels), labels (n,), and which of them are the data set's own test split (n,).

    `note` says what a reader of a result must know about where these pixels come from.
    """

    images: np.ndarray
    labels: np.ndarray
    official_test: np.ndarray
    note: str = ""


class DataSet(NamedTuple):
    """What a data set is, and how to load it. Its sizes are known without that.

    `num_test` of the `num_examples` are its own test split, which no run trains on or chooses by.
    """

    load: Callable[[], Examples]
    num_examples: int
    num_test: int
    image_shape: tuple[int, int, int]
    num_classes: int
    source: str
    licence: str
