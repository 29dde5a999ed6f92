"""Load the data set once, into one file, and describe it."""

import io
import json
import sys

import numpy as np

from iterlin.data.card import describe
from iterlin.data.sets import DATA_SETS
from iterlin.data.tfds_data import DataError
from iterlin.layout import Layout
from iterlin.results import write_bytes, write_text
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout, data = Layout(scale.name), DATA_SETS[scale.data.name]
    try:
        examples = data.load()
    except DataError as error:
        sys.exit(str(error))
    file = io.BytesIO()
    np.savez(file, images=examples.images, labels=examples.labels, official_test=examples.official_test)
    write_bytes(layout.data, file.getvalue())
    write_text(layout.data_card, json.dumps(describe(scale.data.name, data, examples), indent=2) + "\n")


if __name__ == "__main__":
    main()
