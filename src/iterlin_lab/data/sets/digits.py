"""Handwritten digits, 8×8 pixels: real data that ships with scikit-learn, so nothing is downloaded."""

import numpy as np

from iterlin_lab.data.examples import DataSet, Examples


def load() -> Examples:
    """Images (1797, 8, 8, 1) with grey values from 0 to 16, and labels; there is no test split of its own."""
    from sklearn.datasets import load_digits  # scikit-learn takes a second to import

    pixels, labels = load_digits(return_X_y=True)
    images = np.asarray(pixels, np.float32).reshape(-1, 8, 8, 1)
    return Examples(images, np.asarray(labels, np.int32), np.zeros(len(labels), bool))


DATA_SET = DataSet(
    load=load,
    num_examples=1797,
    num_test=0,
    image_shape=(8, 8, 1),
    num_classes=10,
    source="the test part of 'Optical Recognition of Handwritten Digits' (E. Alpaydin and C. Kaynak, UCI Machine "
    "Learning Repository), as shipped by scikit-learn",
    licence="CC BY 4.0",
)
