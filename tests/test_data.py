import gzip
import io
import socket
import tarfile

import jax
import numpy as np
import pytest

from iterlin_lab.data.card import describe
from iterlin_lab.data.originals import read_cifar10, read_mnist
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.runs.recipes import REGIME, RESULT
from iterlin_lab.runs.splits import draw_splits
from iterlin_lab.runs.training import keys
from tests.clone import ROOT, Clone


def as_described(name):
    """Whether a data set is what its entry and its card say."""
    data = DATA_SETS[name]
    examples = data.load()
    assert examples.images.shape == (data.num_examples, *data.image_shape)
    assert examples.official_test.sum() == data.num_test
    assert set(examples.labels.tolist()) == set(range(data.num_classes))
    card, cards = describe(name, data, examples), (ROOT / "docs/data.md").read_text()
    for fact in (card["name"], card["source"], card["licence"], card["note"], card["sha256"]):
        assert fact in cards
    return True


def test_the_digits_are_what_their_entry_and_their_card_say():
    assert as_described("digits")


def test_without_prepared_data_and_without_a_network_one_line_says_what_to_do(tmp_path):
    with socket.socket() as closed:  # a proxy that answers nothing is a machine without a network
        closed.bind(("127.0.0.1", 0))
        proxy = f"http://127.0.0.1:{closed.getsockname()[1]}"
        clone = Clone(tmp_path, "smoke")
        clone.edit("\n    data: &smoke-data {name: digits, num_train: 60,", "\n    data: {name: mnist, num_train: 60,")
        nowhere = {"TFDS_DATA_DIR": str(tmp_path / "nothing"), "https_proxy": proxy, "HTTPS_PROXY": proxy}
        done = clone.run("dvc", "repro", check=False, **nowhere)
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("params.yaml")]
    assert line.startswith("params.yaml: scale.data.name: mnist is not prepared in ")
    assert "Set TFDS_DATA_DIR to a folder where it is prepared, or use the data set digits" in line
    assert "Traceback" not in done.stderr


def test_the_published_files_of_mnist_are_read(tmp_path):
    rng, expected = np.random.default_rng(0), {}
    for split, n in (("train", 3), ("t10k", 2)):
        images, labels = rng.integers(0, 256, (n, 28, 28, 1), np.uint8), rng.integers(0, 10, n, np.uint8)
        expected[split] = images, labels
        for kind, header, content in (("images-idx3", [2051, n, 28, 28], images), ("labels-idx1", [2049, n], labels)):
            whole = np.array(header, ">i4").tobytes() + content.tobytes()
            (tmp_path / f"{split}-{kind}-ubyte.gz").write_bytes(gzip.compress(whole))
    read = read_mnist({path.name: path for path in tmp_path.iterdir()})
    for ours, published in (("train", "train"), ("test", "t10k")):
        for array, kept in zip(read[ours], expected[published], strict=True):
            np.testing.assert_array_equal(array, kept)


def test_the_published_files_of_cifar10_are_read(tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (12, 32, 32, 3), np.uint8), rng.integers(0, 10, 12, np.uint8)
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
    with tarfile.open(tmp_path / "cifar.tar.gz", "w:gz") as archive:
        for i, name in enumerate(names):  # two examples a file: a byte of label, then red, green and blue
            rows = [bytes([labels[j]]) + images[j].transpose(2, 0, 1).tobytes() for j in (2 * i, 2 * i + 1)]
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = sum(map(len, rows))
            archive.addfile(member, io.BytesIO(b"".join(rows)))
    read = read_cifar10({"cifar.tar.gz": tmp_path / "cifar.tar.gz"})
    for split, part in (("train", slice(0, 10)), ("test", slice(10, 12))):
        np.testing.assert_array_equal(read[split][0], images[part])
        np.testing.assert_array_equal(read[split][1], labels[part])


def numbered(n=20, num_test=0):
    """Images that tell which one they are, by one pixel of value i; the last are the data set's own test split."""
    return {
        "images": np.arange(n, dtype=np.float64).reshape(n, 1, 1, 1),
        "labels": np.arange(n, dtype=np.int32),
        "official_test": np.arange(n) >= n - num_test,
    }


@pytest.mark.parametrize("num_test", [0, 7])
def test_splits_are_disjoint_and_standardised_with_training_statistics(num_test):
    data, sizes = numbered(num_test=num_test), {"train": 8, "validation": 5, "test": 7}
    splits, (mean, deviation) = draw_splits(data, sizes, jax.random.key(0))
    assert {name: len(y) for name, (_, y) in splits.items()} == sizes
    chosen = np.concatenate([y for _, y in splits.values()])
    assert sorted(chosen.tolist()) == list(range(20))
    if num_test:
        assert set(splits["test"][1].tolist()) == set(range(13, 20))
    train = data["images"][np.asarray(splits["train"][1])]
    assert (mean, deviation) == pytest.approx((train.mean(), train.std()))
    for x, y in splits.values():
        np.testing.assert_allclose(x, (data["images"][np.asarray(y)] - train.mean()) / train.std(), rtol=1e-12)
    assert abs(float(splits["train"][0].mean())) < 1e-12


def test_every_run_draws_its_own_split_and_more_runs_leave_it_as_it_is():
    sizes = {"train": 10, "test": 10}

    def drawn(run):
        return draw_splits(numbered(), sizes, keys(0, run)[0])[0]["train"][1].tolist()

    assert drawn(3) == drawn(3)
    assert len({tuple(drawn(run)) for run in range(5)}) == 5
    expected = jax.random.split(jax.random.fold_in(jax.random.fold_in(jax.random.key(0), 0), 3), 3)[0]
    assert np.array_equal(jax.random.key_data(keys(0, 3)[0]), jax.random.key_data(expected))


def test_runs_that_set_the_regime_share_no_key_with_results():
    drawn = {
        tuple(jax.random.key_data(key).tolist())
        for purpose in (RESULT, REGIME)
        for run in range(20)
        for key in keys(0, run, purpose)
    }
    assert len(drawn) == 2 * 20 * 3
