"""A folder of prepared data can name classes and files: no such class is imported, and junk is one line."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.clone import ROOT, environment

TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
SPLITS = [{"filepathTemplate": TEMPLATE, "name": name, "shardLengths": ["3"]} for name in ("train", "test")]
INFO = {"fileFormat": "array_record", "name": "mnist", "splits": SPLITS, "version": "3.0.1"}
# What writes the records, and reads all folders in one process, since TFDS takes seconds to import.
SCRIPT = """
import json, os, sys
from pathlib import Path
from array_record.python.array_record_module import ArrayRecordWriter
from tensorflow_datasets.proto import tf_example_generated_pb2 as example, tf_feature_generated_pb2 as feature
from iterlin_lab.data import originals, tfds_data

image = Path("image.png").read_bytes()
def record(label):
    values = {"image": feature.Feature(bytes_list=feature.BytesList(value=[image])),
              "label": feature.Feature(int64_list=feature.Int64List(value=[label]))}
    return example.Example(features=feature.Features(feature=values)).SerializeToString()

for folder in map(Path, sys.argv[1:]):
    for split in ("train", "test"):
        path = folder / f"mnist/3.0.1/mnist-{split}.array_record-00000-of-00001"
        if not path.exists():
            writer = ArrayRecordWriter(str(path), "group_size:1")
            for label in range(3):
                writer.write(record(label))
            writer.close()
for folder in sys.argv[1:]:
    os.environ["TFDS_DATA_DIR"] = folder
    import tensorflow_datasets.core.constants as constants
    constants.DATA_DIR = folder
    try:
        answer = tfds_data.load("mnist", originals.read_mnist).labels.tolist()
    except tfds_data.DataError as error:
        answer = str(error)
    print("answer", json.dumps([folder, answer]))
"""
CRAFTED = {
    "a class of features": {"features": {"pythonClassName": "crafted.Feature"}},
    "a nested class": {
        "features": {
            "pythonClassName": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
            "featuresDict": {"features": {"image": {"pythonClassName": "crafted.Feature"}}},
        }
    },
    "a module": {"info": {"moduleName": "crafted"}},
    "a format": {"info": {"fileFormat": "crafted"}},
    "a file elsewhere": {"info": {"splits": [split | {"filepathTemplate": "../../../image.png"} for split in SPLITS]}},
    "more examples": {"info": {"splits": [split | {"shardLengths": [str(10**12)]} for split in SPLITS]}},
    "no splits": {"info": {"splits": []}},
    "another version": {"info": {"version": "../../x"}},
    "junk": {"info": "\x1b[2J{"},
    "junk for records": {"records": b"\x00" * 300},
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What is read from each folder, and the place of all."""
    place = tmp_path_factory.mktemp("prepared")
    file = io.BytesIO()
    Image.fromarray(np.zeros((28, 28), np.uint8)).save(file, "png")
    (place / "image.png").write_bytes(file.getvalue())
    (place / "crafted.py").write_text("from pathlib import Path\nPath('executed').touch()\n")
    for name, craft in {"honest": {}, **CRAFTED}.items():
        folder = place / name / "mnist/3.0.1"
        folder.mkdir(parents=True)
        info = craft.get("info", {})
        (folder / "dataset_info.json").write_text(info if isinstance(info, str) else json.dumps(INFO | info))
        (folder / "features.json").write_text(json.dumps(craft.get("features", {})))
        if "records" in craft:
            (folder / "mnist-train.array_record-00000-of-00001").write_bytes(craft["records"])
    env = environment(PYTHONPATH=f"{ROOT / 'src'}:{place}")
    command = [sys.executable, "-c", SCRIPT, "honest", *CRAFTED]
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=120)
    lines = [line.removeprefix("answer ") for line in done.stdout.splitlines() if line.startswith("answer ")]
    assert len(lines) == 1 + len(CRAFTED), done.stdout + done.stderr
    return dict(map(json.loads, lines)), place


def test_what_is_prepared_is_read(answers):
    assert answers[0]["honest"] == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("name", CRAFTED)
def test_nothing_that_a_folder_names_is_imported(answers, name):
    found, place = answers
    assert not (place / "executed").exists()
    answer = found[name]
    if answer != [0, 1, 2, 0, 1, 2]:
        assert answer.startswith("mnist as prepared in ")
        assert "cannot be read (" in answer
        assert answer.isprintable()


def test_importing_what_they_name_would_be_seen(answers):
    place = answers[1]
    subprocess.run([sys.executable, "-c", "import crafted"], cwd=place, check=True)
    assert (place / "executed").exists()
