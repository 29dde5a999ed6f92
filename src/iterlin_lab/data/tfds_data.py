"""Data sets of TensorFlow Datasets (TFDS), without TensorFlow.

Data that TFDS has prepared as `array_record` files are read. Otherwise the original files are downloaded and verified
by TFDS, and read by us: TFDS itself would need TensorFlow to prepare them.
"""

import logging
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from iterlin_lab.data.examples import Examples
from iterlin_lab.data.originals import Split

CHUNK = 1000
PATIENCE = 8  # seconds until a server that does not answer counts as out of reach
JPEG = b"\xff\xd8"
JPEG_NOTE = (
    "these images have been through JPEG compression, so they are not the published pixels, and accuracies may differ "
    "from those on the published ones"
)


class DataError(Exception):
    """Data that cannot be had, and what to do."""


def load(name: str, read_originals: Callable[[Mapping[str, Path]], dict[str, Split]]) -> Examples:
    """The data set in an order that does not depend on how it was stored.

    What lies in the folder of prepared data is read as data: the classes that read it are those of TFDS for `name`, and
    not those that a file there may name.

    **Raises**: `DataError` if it is neither prepared nor within reach, or is not what TFDS prepares.
    """
    builder = _builder(name)
    if builder.is_prepared():
        splits, note = _prepared(builder)
    else:
        splits, note = read_originals(_download(builder)), ""
    images, labels = (np.concatenate(parts) for parts in zip(splits["train"], splits["test"], strict=True))
    official_test = np.arange(len(labels)) >= len(splits["train"][1])
    order = sorted(range(len(labels)), key=lambda i: (official_test[i], labels[i], images[i].tobytes()))
    return Examples(images[order], labels[order].astype(np.int32), official_test[order], note)


def _builder(name: str):
    import tensorflow_datasets as tfds  # slow to import

    logging.getLogger("absl").setLevel(logging.ERROR)  # it recommends OpenCV
    folder = Path(os.environ.get("TFDS_DATA_DIR", "~/tensorflow_datasets")).expanduser()
    try:
        return tfds.builder(name)
    except Exception as error:  # it reads the description of what is prepared there
        raise _unreadable(name, folder, error) from error


def _prepared(builder) -> tuple[dict[str, Split], str]:
    try:
        return {split: _read_prepared(builder, split) for split in ("train", "test")}, _note(builder)
    except Exception as error:  # junk fails in many ways
        raise _unreadable(builder.name, builder.data_dir_root, error) from error


def _unreadable(name: str, folder: str | Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split())[:200]
    return DataError(
        f"{name} as prepared in {folder} cannot be read ({reason}). Prepare it anew, or "
        "use the data set digits, which is always there"
    )


def _read_prepared(builder, split: str) -> Split:
    source = builder.as_data_source(split)
    chunks = (range(start, min(start + CHUNK, len(source))) for start in range(0, len(source), CHUNK))
    examples = [example for chunk in chunks for example in source.__getitems__(list(chunk))]
    return np.stack([example["image"] for example in examples]), np.array([example["label"] for example in examples])


def _note(builder) -> str:
    import tensorflow_datasets as tfds

    encoded = builder.as_data_source("train", decoders={"image": tfds.decode.SkipDecoding()})[0]["image"]
    return JPEG_NOTE if encoded.startswith(JPEG) else ""


def _download(builder) -> dict[str, Path]:
    import tensorflow_datasets as tfds

    _check_reach(builder)
    downloads = Path(os.environ.get("TFDS_DATA_DIR", "~/tensorflow_datasets")).expanduser() / "downloads"
    infos = builder.url_infos
    manager = tfds.download.DownloadManager(download_dir=downloads, url_infos=infos, dataset_name=builder.name)
    paths = manager.download({url.rsplit("/", 1)[1]: url for url in infos})
    return {name: Path(path) for name, path in paths.items()}


def _check_reach(builder) -> None:
    """TFDS would try again for minutes where there is no network."""
    url, failure = next(iter(builder.url_infos)), [f"no answer within {PATIENCE} s"]

    def ask() -> None:
        try:
            urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=PATIENCE).close()
            failure.clear()
        except (urllib.error.URLError, OSError) as error:
            failure[:] = [str(getattr(error, "reason", error))]

    asking = threading.Thread(target=ask, daemon=True)  # the look-up of a name has no timeout of its own
    asking.start()
    asking.join(PATIENCE)
    if failure:
        raise DataError(
            f"{builder.name} is not prepared in {builder.data_dir_root}, and {url} is "
            f"out of reach ({failure[0]}). Set TFDS_DATA_DIR to a folder where it is prepared, or use the data set "
            "digits, which is always there"
        )
