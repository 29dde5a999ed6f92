"""Augmentation: what it does to images, to the lazy problem of a step, and to a run that is stopped; kept networks."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import Every, Linearised, cross_entropy, functional, sgd, train
from iterlin_lab.runs.augment import AUGMENTATIONS, crops, flips
from iterlin_lab.settings.base import AUGMENTATIONS as NAMES
from tests.problems import classification, mlp, same

KEY = jax.random.key(3)
IMAGES = jax.random.normal(jax.random.key(4), (40, 5, 6, 2))


def noise(key, x):
    """An augmentation of vectors."""
    return x + jax.random.normal(key, x.shape, x.dtype)


def lazy_loss(linearised, x, y, params):
    return cross_entropy(linearised(params, x), y)


def test_params_know_the_same_augmentations():
    assert set(NAMES) == set(AUGMENTATIONS)


def test_crops_are_all_shifts_of_the_padded_image():
    padded = np.pad(IMAGES, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    shifts = {(i, j): padded[:, i : i + 5, j : j + 6] for i in range(3) for j in range(3)}
    found = np.asarray(crops(KEY, IMAGES, pad=1))
    matches = [{at for at, shifted in shifts.items() if (shifted[n] == found[n]).all()} for n in range(len(IMAGES))]
    assert all(len(at) == 1 for at in matches)
    assert set.union(*matches) == set(shifts)


def test_flips_mirror_some_and_leave_the_others():
    found = flips(KEY, IMAGES)
    mirrored = (found == IMAGES[:, :, ::-1]).all((1, 2, 3))
    assert (mirrored ^ (found == IMAGES).all((1, 2, 3))).all()
    assert 10 < mirrored.sum() < 30
    assert jnp.array_equal(flips(KEY, found), IMAGES)


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_an_augmentation_follows_from_its_key(name):
    images = jax.random.normal(KEY, (20, 8, 8, 1), jnp.float32)
    augment = AUGMENTATIONS[name]
    first, again, other = (augment(jax.random.key(i), images) for i in (0, 0, 1))
    assert (first.shape, first.dtype) == (images.shape, images.dtype)
    assert jnp.array_equal(first, again)
    assert not jnp.array_equal(first, other)


def test_a_step_is_on_the_lazy_problem_at_the_augmented_inputs():
    """Steps of the definition, with φ_s at inputs that are new at every step while θ_s stays."""
    model, (x, y), eta, K = mlp(jax.random.key(0)), classification(jax.random.key(1)), 0.1, 4
    settings = {"loss": cross_entropy, "solver": sgd(eta), "schedule": Every(K), "batch_size": 5, "augment": noise}
    result = train(model, {"train": (x, y)}, num_steps=10, key=KEY, **settings)
    order_key, augment_key = jax.random.split(KEY)
    params, fn = functional(model)
    linearised = Linearised(fn, params)
    for step in range(10):
        if step % K == 0:
            linearised = Linearised(fn, params)
        epoch, batch = divmod(step, len(x) // 5)
        order = jax.random.permutation(jax.random.fold_in(order_key, epoch), len(x))
        chosen = order[5 * batch : 5 * batch + 5]
        inputs = noise(jax.random.fold_in(augment_key, step), x[chosen])
        gradient = jax.grad(partial(lazy_loss, linearised, inputs, y[chosen]))(params)
        params = jax.tree.map(lambda p, g: p - eta * g, params, gradient)
    for leaf, expected in zip(jax.tree.leaves(result.state.params), jax.tree.leaves(params), strict=True):
        same(leaf, expected)


def test_full_batches_are_not_augmented():
    settings = {"loss": cross_entropy, "solver": sgd(0.1), "schedule": Every(3), "num_steps": 3}
    with pytest.raises(ValueError, match="takes mini-batches, which are new at every step: give a batch_size"):
        train(mlp(KEY), {"train": classification(KEY)}, augment=noise, **settings)


def test_the_networks_at_all_records_are_handed_over():
    seen, model = {}, mlp(jax.random.key(0))
    settings = {"loss": cross_entropy, "solver": sgd(0.1), "schedule": Every(3), "num_steps": 10}
    result = train(model, {"train": classification(KEY)}, on_model=seen.__setitem__, **settings)
    assert list(seen) == [record["step"] for record in result.records]
    for network, expected in ((seen[0], model), (seen[10], result.model)):
        assert eqx.tree_equal(network, expected)
