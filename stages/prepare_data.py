"""Load the data set once, into one file."""

import io

import numpy as np

from iterlin.data import DATA_SETS
from iterlin.layout import Layout
from iterlin.results import write_bytes
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    images, labels = DATA_SETS[scale.data.name].load()
    file = io.BytesIO()
    np.savez_compressed(file, images=images, labels=labels)
    write_bytes(Layout(scale.name).data, file.getvalue())


if __name__ == "__main__":
    main()
