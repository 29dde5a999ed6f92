"""CIFAR-10: photographs of ten kinds of things, 32×32 pixels in three colours."""

from functools import partial

from iterlin_lab.data import originals, tfds_data
from iterlin_lab.data.examples import DataSet

DATA_SET = DataSet(
    load=partial(tfds_data.load, "cifar10", originals.read_cifar10),
    num_examples=60_000,
    num_test=10_000,
    image_shape=(32, 32, 3),
    num_classes=10,
    source="CIFAR-10 (A. Krizhevsky, 2009), through TensorFlow Datasets",
    licence="none stated by its author",
)
