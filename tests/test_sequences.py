"""A causal transformer of characters: at K = 1 it is trained plainly, and at K = ∞ its linearisation is."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import cross_entropy, functional, sgd, train
from tests.problems import same

TEXT = "the cat sat on the mat and the rat ate the cat "
CHARACTERS = sorted(set(TEXT))
LENGTH, WIDTH, RATE, STEPS = 8, 6, 0.3, 12


class Characters(eqx.Module):
    """From (length,) characters to (length, characters): what follows each, by what came before it alone."""

    characters: eqx.nn.Embedding
    positions: eqx.nn.Embedding
    norm: eqx.nn.LayerNorm
    attention: eqx.nn.MultiheadAttention
    last: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        self.characters = eqx.nn.Embedding(len(CHARACTERS), WIDTH, key=keys[0])
        self.positions = eqx.nn.Embedding(LENGTH, WIDTH, key=keys[1])
        self.norm = eqx.nn.LayerNorm(WIDTH)
        self.attention = eqx.nn.MultiheadAttention(2, WIDTH, inference=True, key=keys[2])
        self.last = eqx.nn.Linear(WIDTH, len(CHARACTERS), key=keys[3])

    def __call__(self, text):
        x = jax.vmap(self.characters)(text) + jax.vmap(self.positions)(jnp.arange(len(text)))
        normed = jax.vmap(self.norm)(x)
        return jax.vmap(self.last)(x + self.attention(normed, normed, normed, mask=jnp.tri(len(text), dtype=bool)))


def windows():
    """Pieces of the text, and the same a place further."""
    codes = np.array([CHARACTERS.index(character) for character in TEXT])
    pieces = np.lib.stride_tricks.sliding_window_view(codes, LENGTH + 1)
    return jnp.asarray(pieces[:, :-1]), jnp.asarray(pieces[:, 1:])


MODEL, (X, Y) = Characters(jax.random.key(0)), windows()
PARAMS, FN = functional(MODEL)
THETA, UNRAVEL = ravel_pytree(PARAMS)


def mean_loss(outputs):
    """Of all places, written out."""
    probabilities = jnp.exp(outputs) / jnp.exp(outputs).sum(-1, keepdims=True)
    return -jnp.mean(jnp.log(jnp.take_along_axis(probabilities, Y[..., None], axis=-1)))


def plain(theta):
    return jax.vmap(eqx.combine(UNRAVEL(theta), MODEL))(X)


def linearised(theta):
    """f + φ(θ − θ₀) with the Jacobian as it stands."""
    phi = jax.jacfwd(plain)(THETA)
    return plain(THETA) + phi @ (theta - THETA)


def descended(outputs):
    theta = THETA
    gradient = jax.jit(jax.grad(lambda theta: mean_loss(outputs(theta))))
    for _ in range(STEPS):
        theta = theta - RATE * gradient(theta)
    return theta


LOOPS = [(1, plain, "network"), (float("inf"), linearised, "proxy")]


@pytest.mark.parametrize(("period", "outputs", "trained"), LOOPS, ids=["K = 1", "lazy"])
def test_a_model_of_characters_is_trained_as_by_a_hand_written_loop(period, outputs, trained):
    settings = {"loss": cross_entropy, "solver": sgd(RATE), "schedule": period, "num_steps": STEPS}
    result = train(MODEL, {"train": (X, Y)}, **settings)
    expected = descended(outputs)
    same(ravel_pytree(result.state.params)[0], expected)
    last, made = result.records[-1], outputs(expected)
    same(last[f"{trained}_train_loss"], mean_loss(made))
    assert last[f"{trained}_train_accuracy"] == pytest.approx(float((made.argmax(-1) == Y).mean()))
    assert last[f"{trained}_train_loss"] < 0.9 * float(mean_loss(plain(THETA)))


def test_what_follows_in_the_text_changes_nothing_before_it():
    changed = X.at[:, 5:].set((X[:, 5:] + 1) % len(CHARACTERS))
    before, after = FN(PARAMS, X), FN(PARAMS, changed)
    np.testing.assert_array_equal(before[:, :5], after[:, :5])
    assert np.all(np.any(before[:, 5:] != after[:, 5:], axis=-1))
