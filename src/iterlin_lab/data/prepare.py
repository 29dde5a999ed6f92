"""A data set as one file, and its description as another."""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np

from iterlin_lab.data.card import describe
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.data.tfds_data import DataError
from iterlin_lab.files import write_bytes, write_text


def prepare(key: str, name: str, path: Path, card: Path) -> None:
    """Load once the data set that `key` of params.yaml names.

    **Raises**: `SystemExit` with one line if it is not there.
    """
    data = DATA_SETS[name]
    try:
        examples = data.load()
    except DataError as error:
        sys.exit(f"params.yaml: {key}: {error}")
    arrays = {"images": examples.images, "labels": examples.labels, "official_test": examples.official_test}
    write_bytes(path, npz(arrays))
    write_text(card, json.dumps(describe(name, data, examples), indent=2) + "\n")


def npz(arrays: dict[str, np.ndarray]) -> bytes:
    """An `.npz` file with the same bytes from every Python. The ZIP64 entries of `np.savez` differ between releases."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())
    return file.getvalue()
