"""The files that MNIST and CIFAR-10 were published in, read as they are."""

import gzip
import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

Split = tuple[np.ndarray, np.ndarray]


def read_mnist(files: Mapping[str, Path]) -> dict[str, Split]:
    """The splits `train` and `test` from the four IDX files: a header of four or two 32-bit numbers, then bytes."""

    def split(name: str) -> Split:
        pixels = np.frombuffer(gzip.decompress(files[f"{name}-images-idx3-ubyte.gz"].read_bytes()), np.uint8, offset=16)
        labels = np.frombuffer(gzip.decompress(files[f"{name}-labels-idx1-ubyte.gz"].read_bytes()), np.uint8, offset=8)
        return pixels.reshape(-1, 28, 28, 1), labels

    return {"train": split("train"), "test": split("t10k")}


def read_cifar10(files: Mapping[str, Path]) -> dict[str, Split]:
    """The splits from the archive of six binary files: a byte of label and 3×32×32 bytes of pixels an example."""
    (path,) = files.values()
    parts = {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}
    with tarfile.open(path) as archive:
        members = {Path(member.name).name: member for member in archive.getmembers()}

        def split(names: list[str]) -> Split:
            content = b"".join(archive.extractfile(members[name]).read() for name in names)  # pyright: ignore
            rows = np.frombuffer(content, np.uint8).reshape(-1, 1 + 3 * 32 * 32)
            return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]

        return {name: split(members) for name, members in parts.items()}
