"""Parts of a model are trained, and low-rank adapters of its weights."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import Linearised, adapted, empirical_ntk, functional, only, sgd, squared_error, train
from iterlin_lab.nets.shared.convolution import Conv2d
from tests.clone import ROOT
from tests.problems import mlp, regression, same

KEYS = jax.random.split(jax.random.key(0), 3)
RATE, STEPS = 0.05, 20
PARTS = {
    "the head": lambda m: m.layers[-1],
    "two layers": lambda m: [m.layers[0], m.layers[2]],
    "a slice": lambda m: m.layers[1:],
    "a weight": lambda m: m.layers[1].weight,
}


def arrays(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))]


def flags(model, chosen):
    """Of each parameter, 1 if it is chosen."""
    return jax.tree.map(
        lambda leaf, flag: jnp.full(leaf.shape, float(flag)) if eqx.is_array(leaf) else None, model, chosen
    )


def projected(model, chosen, data, period):
    """Steps on the linearised problem in all parameters, with gradients projected onto what is chosen."""
    (params, fn), (x, y) = functional(model), data
    theta, unflatten = ravel_pytree(params)
    mask, _ = ravel_pytree(flags(model, chosen))

    def linearised(theta):
        return Linearised(fn, unflatten(theta)).jacobian(x), fn(unflatten(theta), x).ravel(), theta

    phi, outputs, centre = linearised(theta)
    for step in range(STEPS):
        if step > 0 and step % period == 0:
            phi, outputs, centre = linearised(theta)
        residual = (outputs + phi @ (theta - centre) - y.ravel()) / len(x)
        theta = theta - RATE * mask * (phi.T @ residual)
    return unflatten(theta)


@pytest.mark.parametrize("where", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("period", [3, float("inf")])
def test_a_part_is_trained_as_all_is_with_projected_gradients_and_the_rest_stays(where, period):
    model, data = mlp(KEYS[0]), regression(KEYS[1])
    chosen = only(model, where)
    settings = {"loss": squared_error, "solver": sgd(RATE), "schedule": period, "num_steps": STEPS}
    result = train(model, {"train": data}, trainable=chosen, **settings)
    found = eqx.combine(result.state.params, model)
    trees = found, projected(model, chosen, data, period), model, flags(model, chosen)
    for ours, theirs, before, flag in zip(*map(arrays, trees), strict=True):
        same(ours, theirs)
        np.testing.assert_array_equal(ours != before, flag)


def test_what_is_picked_twice_or_within_another_part_is_trained_once():
    model = mlp(KEYS[0])
    chosen = only(model, lambda m: (m.layers[0], m.layers[0].weight, m.layers[0]))
    assert jax.tree.leaves(chosen) == jax.tree.leaves(only(model, lambda m: m.layers[0]))
    assert sum(jax.tree.leaves(chosen)) == 2


class Network(eqx.Module):
    """A network with convolutions of both layouts, and arrays of other kinds."""

    ours: Conv2d
    theirs: eqx.nn.Conv2d
    last: eqx.nn.Linear
    count: jax.Array
    empty: None = None

    def __call__(self, x):
        x = jnp.moveaxis(jnp.tanh(self.ours(x)), -1, 0)
        return self.last(jnp.tanh(self.theirs(x)).ravel()) + self.count.astype(x.dtype)


def network():
    ours, theirs = Conv2d(2, 5, 3, "SAME", key=KEYS[0]), eqx.nn.Conv2d(5, 4, 3, key=KEYS[1])
    return Network(ours, theirs, eqx.nn.Linear(16, 3, key=KEYS[2]), jnp.asarray(2, jnp.int32))


def weights(m):
    return m.ours.weight, m.theirs.weight, m.last.weight


IMAGES = jax.random.normal(KEYS[1], (6, 4, 4, 2))


def test_an_adapted_model_is_the_same_function_at_first():
    model = network()
    start = adapted(model, weights, 2, KEYS[2])
    np.testing.assert_array_equal(jax.vmap(start)(IMAGES), jax.vmap(model)(IMAGES))
    shapes = [(f.B.shape, f.A.shape) for f in (start.factors.ours.weight, start.factors.theirs.weight)]
    assert shapes == [((5, 2), (2, 18)), ((4, 2), (2, 45))]
    assert len(arrays(start.factors)) == 6


def test_adapters_start_at_the_scale_of_the_fan_in_and_each_with_a_draw_of_its_own():
    model = eqx.nn.MLP(200, 200, 200, 2, key=KEYS[0])
    start = adapted(model, lambda m: [layer.weight for layer in m.layers], 100, KEYS[1])
    drawn = [layer.weight.A for layer in start.factors.layers]
    for first in drawn:  # the standard deviation over 20 000 draws is within 1/√40 000 of its own, six times that here
        assert np.std(np.asarray(first)) == pytest.approx(200**-0.5, rel=0.03)
    assert not np.array_equal(drawn[0], drawn[1])


def rows(model, picked):
    """∂f/∂W of an adapted leaf as a matrix (n, outputs, out, rest) whose rows belong to the outputs of its layer."""
    gradients = jax.vmap(jax.jacrev(lambda weight, x: eqx.tree_at(picked, model, weight)(x)), (None, 0))
    found = gradients(picked(model), IMAGES)
    if picked(model).shape[:2] == (3, 3):  # the kernel (height, width, in, out)
        found = jnp.moveaxis(found, -1, 2)
    return found.reshape(*found.shape[:3], -1)


def test_the_kernel_of_adapters_is_that_of_their_b_alone_at_first():
    model = network()
    start = adapted(model, weights, 2, KEYS[2])
    params, fn = functional(start, only(start, lambda m: m.factors))
    expected = 0
    for i in range(3):
        phi = rows(model, lambda m, i=i: weights(m)[i]) @ weights(start.factors)[i].A.T
        expected += jnp.einsum("iaor,jbor->iajb", phi, phi)
    same(empirical_ntk(fn, params, IMAGES), expected)


def test_orthonormal_adapters_of_full_rank_have_the_kernel_of_the_whole_weight():
    model, x = mlp(KEYS[0]), regression(KEYS[1])[0]
    start = adapted(model, lambda m: m.layers[0].weight, 3, KEYS[2])  # of shape (7, 3)
    orthonormal, _ = jnp.linalg.qr(start.factors.layers[0].weight.A)
    start = eqx.tree_at(lambda m: m.factors.layers[0].weight.A, start, orthonormal)
    params, fn = functional(start, only(start, lambda m: m.factors.layers[0].weight.B))
    whole, whole_fn = functional(model, only(model, lambda m: m.layers[0].weight))
    same(empirical_ntk(fn, params, x), empirical_ntk(whole_fn, whole, x))


def test_a_trained_adapted_model_is_its_merged_one_and_the_model_within_stays():
    model, y = network(), jax.random.normal(KEYS[0], (6, 3))
    start = adapted(model, weights, 2, KEYS[2])
    settings = {"loss": squared_error, "solver": sgd(RATE), "schedule": 3, "num_steps": STEPS}
    result = train(start, {"train": (IMAGES, y)}, trainable=only(start, lambda m: m.factors), **settings)
    assert result.records[-1]["network_train_loss"] < 0.9 * result.records[0]["network_train_loss"]
    for ours, before in zip(arrays(result.model.model), arrays(model), strict=True):
        np.testing.assert_array_equal(ours, before)
    merged = result.model.merged()
    assert type(merged) is Network
    same(jax.vmap(merged)(IMAGES), jax.vmap(result.model)(IMAGES))
    same(
        merged.last.weight, model.last.weight + result.model.factors.last.weight.B @ result.model.factors.last.weight.A
    )
    assert not np.array_equal(merged.ours.weight, model.ours.weight)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            lambda m: (),
            r"the selection \(which is empty\) has no array of floating-point numbers: pick a layer, or an ar",
        ),
        (lambda m: m.empty, r"the selection \(which is empty\) has no array of floating-point numbers: pick a layer"),
        (lambda m: {"it": m.count}, r"the selection \(\.count\) has no array of floating-point numbers: pick a l"),
        (
            lambda m: m.count,
            r"the parameter \.count is int32: floating-point numbers alone are trained, so leave it out",
        ),
        (lambda m: (m.last, m.count), r"the parameter \.count is int32: .*, so leave it out or convert it"),
        (lambda m: m.last.weight * 2, r"where must pick parts of the model, and not compute with them: it gave '\.la"),
        (
            lambda m: jnp.ones((2, 2)),
            r"not compute with them: it gave Array\(\[\[1\., 1\.\], \[1\., 1\.\]\], dtype=float64\)",
        ),
        (lambda m: 3, r"where must pick parts of the model, and not compute with them: it gave 3"),
    ],
)
def test_a_selection_that_cannot_be_trained_is_one_line_that_names_it(where, message):
    for use in (only, lambda model, where: adapted(model, where, 1, KEYS[0])):
        with pytest.raises(ValueError, match=message) as error:
            use(network(), where)
        assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("where", "rank", "message"),
    [
        (weights, 0, r"the rank of an adapter of \.ours\.weight, a matrix of 5×18, must lie between 1 and 5, got 0"),
        (weights, 5, r"the rank of an adapter of \.theirs\.weight, a matrix of 4×45, must lie between 1 and 4, got 5"),
        (
            lambda m: m.last,
            1,
            r"the parameter \.last\.bias of shape \(3,\) is no matrix and takes no adapter: pick weigh",
        ),
    ],
)
def test_an_adapter_that_does_not_fit_is_one_line_that_names_the_weight(where, rank, message):
    with pytest.raises(ValueError, match=message) as error:
        adapted(network(), where, rank, KEYS[0])
    assert len(str(error.value).splitlines()) == 1


def test_the_code_in_the_docs_does_what_it_says():
    text = (ROOT / "docs/fine-tuning.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    made = {}
    exec(code, made)
    pretrained, tangent, start, adapters = (made[name] for name in ("pretrained", "tangent", "start", "adapters"))
    kept = jax.tree.map(lambda one, other: np.array_equal(one, other), made["head"].model.layers, pretrained.layers)
    assert [(layer.weight, layer.bias) for layer in kept] == [(True, True), (True, True), (False, False)]
    accuracy = (np.asarray(made["logits"]).argmax(axis=1) == made["data"]["train"][1]).mean()
    assert accuracy == pytest.approx(tangent.records[-1]["proxy_train_accuracy"])
    assert accuracy > tangent.records[0]["proxy_train_accuracy"]
    same(jax.vmap(made["plain"])(made["x"]), jax.vmap(adapters.model)(made["x"]))
    assert jax.tree.structure(made["plain"]) == jax.tree.structure(pretrained)
    for first, last in zip(start.factors.layers, adapters.model.factors.layers, strict=True):
        assert not np.array_equal(first.weight.A, last.weight.A)
    lazy = made["fine_tuned"](start, lambda model: model.factors, float("inf"))
    for first, last in zip(start.factors.layers, lazy.model.factors.layers, strict=True):
        np.testing.assert_array_equal(first.weight.A, last.weight.A)
        assert last.weight.B.any()
