"""MNIST: handwritten digits, 28×28 pixels."""

from functools import partial

from iterlin_lab.data import originals, tfds_data
from iterlin_lab.data.examples import DataSet

DATA_SET = DataSet(
    load=partial(tfds_data.load, "mnist", originals.read_mnist),
    num_examples=70_000,
    num_test=10_000,
    image_shape=(28, 28, 1),
    num_classes=10,
    source="MNIST (Y. LeCun, C. Cortes and C. Burges), through TensorFlow Datasets",
    licence="CC BY-SA 3.0",
)
