"""What loading a data set gives."""

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
