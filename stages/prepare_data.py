"""Load the data set once, into one file, and describe it."""

import io
import json
import sys
import zipfile

import numpy as np

from iterlin.data.card import describe
from iterlin.data.sets import DATA_SETS
from iterlin.data.tfds_data import DataError
from iterlin.files import write_bytes, write_text
from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout, data = Layout(scale.name), DATA_SETS[scale.data.name]
    try:
        examples = data.load()
    except DataError as error:
        sys.exit(str(error))
    arrays = {"images": examples.images, "labels": examples.labels, "official_test": examples.official_test}
    write_bytes(layout.data, npz(arrays))
    write_text(layout.data_card, json.dumps(describe(scale.data.name, data, examples), indent=2) + "\n")


def npz(arrays: dict[str, np.ndarray]) -> bytes:
    """As `np.savez`, with the same bytes from every Python: that makes ZIP64 entries, which differ between releases."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue())
    return file.getvalue()


if __name__ == "__main__":
    main()
