"""Networks of whole batches: dropout, examples that meet, trees of arrays, sequences; and what is refused."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equinox.nn import Dropout, Linear

from iterlin import (
    BatchModel,
    ClosedForm,
    EquinoxModel,
    Flow,
    Linearised,
    Ridge,
    Truncated,
    cross_entropy,
    empirical_ntk,
    functional,
    sgd,
    squared_error,
    train,
)
from tests.problems import same
from tests.test_batch_norm import DATA, DATA_KEY, KEY, RATE, flat, normed, run


class Dropped(eqx.Module):
    first: Linear
    dropout: Dropout
    last: Linear

    def __init__(self, key, p=0.5):
        keys = jax.random.split(key)
        self.first, self.last, self.dropout = Linear(3, 5, key=keys[0]), Linear(5, 2, key=keys[1]), Dropout(p)

    def __call__(self, x, key=None):
        return self.last(self.dropout(jnp.tanh(self.first(x)), key=key))


def test_the_mask_of_dropout_is_part_of_the_steps_function():
    """Every step draws anew, and f and its tangent see the same mask: a hand-written loop with these keys agrees."""
    model, key = EquinoxModel(Dropped(KEY), random=True), jax.random.key(3)
    result = run(model, key=key, schedule=4, num_steps=10)
    own = jax.random.split(key)[1]
    theta, static = eqx.partition(model.module, eqx.is_inexact_array)
    theta0 = theta

    @jax.jit
    def slope(theta, theta0, keys):
        def network(theta):
            return jax.vmap(eqx.combine(theta, static))(DATA[0], keys)

        def loss(theta):
            outputs, change = jax.jvp(network, (theta0,), (jax.tree.map(jnp.subtract, theta, theta0),))
            return squared_error(outputs + change, DATA[1])

        return jax.grad(loss)(theta)

    for step in range(10):
        if step % 4 == 0:
            theta0 = theta
        keys = jax.random.split(jax.random.fold_in(own, step), len(DATA[0]))
        theta = jax.tree.map(lambda a, g: a - RATE * g, theta, slope(theta, theta0, keys))
    same(flat(result.model.module), flat(theta))
    record = result.records[-1]["network_train_loss"]
    same(record, squared_error(jax.vmap(eqx.nn.inference_mode(eqx.combine(theta, static)))(DATA[0]), DATA[1]))


def test_dropout_of_nothing_is_the_network_itself():
    plain = run(eqx.nn.inference_mode(Dropped(KEY)), schedule=4)
    same(flat(run(EquinoxModel(Dropped(KEY, p=0.0), random=True), schedule=4, key=KEY).model), flat(plain.model))


class Pair(eqx.Module):
    """From a tree of inputs to a tree of outputs."""

    left: Linear
    right: Linear

    def __call__(self, x):
        return {"sum": self.left(x["a"]) + self.right(x["b"]), "square": jnp.tanh(self.right(x["b"])) ** 2}


class Concatenated(eqx.Module):
    pair: Pair

    def __call__(self, x):
        outputs = self.pair({"a": x[:3], "b": x[3:]})
        return jnp.concatenate([outputs["sum"], outputs["square"]])


@pytest.mark.parametrize("batch_size", [None, 4])
def test_trees_of_inputs_and_outputs_are_arrays_side_by_side(batch_size):
    keys = jax.random.split(KEY, 4)
    pair = Pair(Linear(3, 2, key=keys[0]), Linear(4, 2, key=keys[1]))
    x, y = jax.random.normal(keys[2], (12, 7)), jax.random.normal(keys[3], (12, 4))
    settings = {"solver": sgd(RATE), "schedule": 5, "num_steps": 20, "batch_size": batch_size, "key": KEY}

    def loss(outputs, targets):
        return squared_error(outputs["sum"], targets["sum"]) + squared_error(outputs["square"], targets["square"])

    tree = {"a": x[:, :3], "b": x[:, 3:]}, {"sum": y[:, :2], "square": y[:, 2:]}
    found = train(pair, {"train": tree, "test": tree}, loss=loss, **settings)
    expected = train(Concatenated(pair), {"train": (x, y), "test": (x, y)}, loss=squared_error, **settings)
    same(flat(found.model), flat(expected.model))
    for one, other in zip(found.records, expected.records, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    params, fn = functional(pair)
    other, joined = functional(Concatenated(pair))
    order = np.r_[2, 3, 0, 1]  # a tree has its names in order
    same(empirical_ntk(fn, params, tree[0]), empirical_ntk(joined, other, x)[:, order][:, :, :, order])
    assert Linearised(fn, params).jacobian(tree[0]).shape == (48, flat(pair).size)


def test_a_sequence_is_classified_place_by_place():
    """A model with outputs (places, classes) trains as one whose places are examples."""
    network = eqx.nn.MLP(3, 4, 6, 1, key=KEY)

    class Places(eqx.Module):
        network: eqx.nn.MLP

        def __call__(self, x):
            return jax.vmap(self.network)(x)

    x = jax.random.normal(DATA_KEY, (6, 5, 3))
    labels = jax.random.randint(KEY, (6, 5), 0, 4)
    settings = {"loss": cross_entropy, "solver": sgd(RATE), "schedule": 5, "num_steps": 20}
    found = train(Places(network), {"train": (x, labels)}, **settings)
    expected = train(network, {"train": (x.reshape(-1, 3), labels.ravel())}, **settings)
    same(flat(found.model), flat(expected.model))
    for one, other in zip(found.records, expected.records, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


class Centred(BatchModel):
    """Examples that meet, without a state or a key."""

    network: eqx.nn.MLP

    def __call__(self, x, state, key):
        outputs = jax.vmap(self.network)(x)
        return outputs - outputs.mean(0, keepdims=True), state

    def inference(self, x, state):
        return jax.vmap(self.network)(x)


@pytest.mark.parametrize("hoist", [True, False])
def test_a_batch_of_examples_that_meet_is_never_cut(hoist):
    """Its gradient is that of the whole batch, however small the blocks are."""
    model = Centred(eqx.nn.MLP(3, 2, 4, 1, activation=jnp.tanh, key=KEY))
    result = run(model, schedule=1, num_steps=1, hoist=hoist, block_bytes=1)
    theta, static = eqx.partition(model, eqx.is_inexact_array)
    slope = jax.grad(lambda theta: squared_error(eqx.combine(theta, static)(DATA[0], None, None)[0], DATA[1]))(theta)
    same(flat(result.model), flat(jax.tree.map(lambda a, g: a - RATE * g, theta, slope)))


class Losing(BatchModel):
    weight: jax.Array

    def __call__(self, x, state, key):
        return x @ self.weight, None


class Counting(BatchModel):
    weight: jax.Array

    def __call__(self, x, state, key):
        return x @ self.weight, state.astype(float)


NORMED = normed()


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (
            NORMED[0].module,
            {},
            r".norm is a BatchNorm, which keeps a state: train `EquinoxModel\(model\)`, and give `st",
        ),
        (NORMED[0], {}, r".module.norm is a BatchNorm, which keeps a state: .* give `state`"),
        (Dropped(KEY), {}, r".dropout is a Dropout, which draws at random: train `EquinoxModel\(model, random=True\)`"),
        (Losing(jnp.ones((3, 2))), {"state": jnp.zeros(2)}, "the state that the model returns is built otherwise"),
        (
            Counting(jnp.ones((3, 2))),
            {"state": jnp.array(0)},
            r"the state goes in as .*int64.* and comes out as .*float",
        ),
        (eqx.nn.MLP(3, 2, 4, 1, key=KEY), {"state": 1.0}, "state: a module that maps one example has none"),
        (EquinoxModel(Dropped(KEY), random=True), {}, "the network draws at random: give a `key`"),
        (NORMED[0], {"state": NORMED[1], "hoist": True}, "hoist: a network with a state or a key is new at every step"),
        (
            NORMED[0],
            {"state": NORMED[1], "solver": ClosedForm(0.1)},
            "the closed form takes models that map one example",
        ),
        (NORMED[0], {"state": NORMED[1], "solver": Ridge()}, "the ridge solver takes models that map one example"),
        (
            EquinoxModel(Dropped(KEY), random=True),
            {"key": KEY, "solver": Flow(0.1)},
            "gradient flow looks at a lazy prob",
        ),
        (
            EquinoxModel(Dropped(KEY), random=True),
            {"key": KEY, "solver": Truncated(0.1)},
            "truncated Gauss–Newton looks",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_by_name(model, settings, message):
    with pytest.raises(ValueError, match=message):
        run(model, **({"damping": 1e-3} | settings))


def test_parameters_that_are_no_real_numbers_are_refused_by_name():
    model = eqx.tree_at(lambda model: model.layers[0].bias, eqx.nn.MLP(3, 2, 4, 1, key=KEY), jnp.ones(4, int))
    with pytest.raises(
        ValueError, match=r"the parameter .layers\[0\].bias is int64, which has no derivative: leave it"
    ):
        run(model, trainable=eqx.is_array)
    with pytest.raises(ValueError, match="the model has no parameters to train: `trainable` selects no array of it"):
        run(model, trainable=lambda leaf: False)


def test_a_kernel_of_examples_that_meet_is_refused():
    theta, fn = functional(Centred(eqx.nn.MLP(3, 2, 4, 1, key=KEY)))
    for kernel in (empirical_ntk, lambda *given: Linearised(*given[:2]).jacobian(given[2])):
        with pytest.raises(ValueError, match="the examples of a BatchModel meet in its batch"):
            kernel(fn, theta, DATA[0])
