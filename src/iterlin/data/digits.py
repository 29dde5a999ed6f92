"""Handwritten digits, 8×8 pixels: real data that ships with scikit-learn, so nothing is downloaded."""

import numpy as np

SOURCE = (
    "the test part of 'Optical Recognition of Handwritten Digits' (E. Alpaydin and C. Kaynak, UCI Machine Learning "
    "Repository, CC BY 4.0), as shipped by scikit-learn"
)


def load() -> tuple[np.ndarray, np.ndarray]:
    """Images (1797, 8, 8, 1) with grey values from 0 to 16, and labels."""
    from sklearn.datasets import load_digits  # scikit-learn takes a second to import

    pixels, labels = load_digits(return_X_y=True)
    return np.asarray(pixels, np.float32).reshape(-1, 8, 8, 1), np.asarray(labels, np.int32)
