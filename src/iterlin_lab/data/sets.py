"""Data sets, by the names that params.yaml uses. Their sizes are known without loading them."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from iterlin_lab.data import digits, originals, tfds_data
from iterlin_lab.data.examples import Examples


class DataSet(NamedTuple):
    """What a data set is, and how to load it.

    `num_test` of the `num_examples` are its own test split, which no run trains on or chooses by.
    """

    load: Callable[[], Examples]
    num_examples: int
    num_test: int
    image_shape: tuple[int, int, int]
    num_classes: int
    source: str
    licence: str


DATA_SETS = {
    "digits": DataSet(
        digits.load,
        1797,
        0,
        (8, 8, 1),
        10,
        "the test part of 'Optical Recognition of Handwritten Digits' (E. Alpaydin and C. Kaynak, UCI Machine Learning "
        "Repository), as shipped by scikit-learn",
        "CC BY 4.0",
    ),
    "mnist": DataSet(
        partial(tfds_data.load, "mnist", originals.read_mnist),
        70_000,
        10_000,
        (28, 28, 1),
        10,
        "MNIST (Y. LeCun, C. Cortes and C. Burges), through TensorFlow Datasets",
        "CC BY-SA 3.0",
    ),
    "cifar10": DataSet(
        partial(tfds_data.load, "cifar10", originals.read_cifar10),
        60_000,
        10_000,
        (32, 32, 3),
        10,
        "CIFAR-10 (A. Krizhevsky, 2009), through TensorFlow Datasets",
        "none stated by its author",
    ),
}
