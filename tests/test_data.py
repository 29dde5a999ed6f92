import jax
import numpy as np
import pytest

from iterlin.data import DATA_SETS
from iterlin.data.splits import draw_splits
from iterlin.experiments.training_run import keys


@pytest.mark.parametrize("name", DATA_SETS)
def test_a_data_set_is_what_its_entry_says(name):
    data = DATA_SETS[name]
    images, labels = data.load()
    assert images.shape == (data.num_examples, *data.image_shape)
    assert set(labels.tolist()) == set(range(data.num_classes))


def numbered(n=20):
    """Images that tell which one they are, by one pixel of value i."""
    return np.arange(n, dtype=np.float64).reshape(n, 1, 1, 1), np.arange(n, dtype=np.int32)


def test_splits_are_disjoint_and_standardised_with_training_statistics():
    images, labels = numbered()
    splits = draw_splits(images, labels, {"train": 8, "validation": 5, "test": 7}, jax.random.key(0))
    assert {name: len(y) for name, (_, y) in splits.items()} == {"train": 8, "validation": 5, "test": 7}
    chosen = np.concatenate([y for _, y in splits.values()])
    assert sorted(chosen.tolist()) == list(range(20))
    train = images[np.asarray(splits["train"][1])]
    for x, y in splits.values():
        np.testing.assert_allclose(x, (images[np.asarray(y)] - train.mean()) / train.std(), rtol=1e-12)
    assert abs(float(splits["train"][0].mean())) < 1e-12


def test_every_run_draws_its_own_split_and_more_runs_leave_it_as_it_is():
    images, labels = numbered()
    sizes = {"train": 10, "test": 10}

    def drawn(run, purpose="result"):
        return draw_splits(images, labels, sizes, keys(0, run, purpose)[0])["train"][1].tolist()

    assert drawn(3) == drawn(3)
    assert len({tuple(drawn(run)) for run in range(5)}) == 5
    expected = jax.random.split(jax.random.fold_in(jax.random.fold_in(jax.random.key(0), 0), 3), 3)[0]
    assert np.array_equal(jax.random.key_data(keys(0, 3, "result")[0]), jax.random.key_data(expected))


def test_runs_that_set_the_regime_share_no_key_with_results():
    drawn = {
        tuple(jax.random.key_data(key).tolist())
        for purpose in ("result", "regime")
        for run in range(20)
        for key in keys(0, run, purpose)
    }
    assert len(drawn) == 2 * 20 * 3
