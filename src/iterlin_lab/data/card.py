"""A data card: what a data set is, in numbers that identify it."""

import hashlib
from typing import Any

import numpy as np

from iterlin_lab.data.examples import DataSet, Examples


def describe(name: str, data: DataSet, examples: Examples) -> dict[str, Any]:
    """Source, licence, splits, range of the pixels, and a digest of images, labels and split."""
    test = examples.official_test
    return {
        "name": name,
        "source": data.source,
        "licence": data.licence,
        "note": examples.note,
        "image_shape": list(examples.images.shape[1:]),
        "pixels": [float(examples.images.min()), float(examples.images.max())],
        "examples": {"all": len(test), "own test split": int(test.sum())},
        "class_counts": np.bincount(examples.labels).tolist(),
        "sha256": digest(examples),
    }


def digest(examples: Examples) -> str:
    """SHA-256 over the bytes of images, labels and the mask of the test split, in C order."""
    sha = hashlib.sha256()
    for array in (examples.images, examples.labels, examples.official_test):
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()
