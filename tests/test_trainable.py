"""What of a model is trained, and what a parameter may be."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import (
    ClosedForm,
    Linearised,
    Run,
    cross_entropy,
    empirical_ntk,
    functional,
    ggn_max_eigenvalue,
    sgd,
    squared_error,
    train,
    train_many,
)
from tests.problems import classification, mlp, regression

KEYS = jax.random.key(0), jax.random.key(1)


class Scaled(eqx.Module):
    """A network behind constants that are no parameters, of jax and of NumPy."""

    mean: jax.Array
    deviation: np.ndarray
    network: eqx.nn.MLP

    def __call__(self, x):
        return self.network((x - self.mean) / self.deviation)


def scaled():
    return Scaled(jnp.ones(3), np.full(3, 2.0), mlp(KEYS[0]))


def only_the_network(model):
    none = jax.tree.map(lambda leaf: False, model)
    return eqx.tree_at(lambda m: m.network, none, jax.tree.map(eqx.is_inexact_array, model.network))


def settings(**changes):
    return {"loss": squared_error, "solver": sgd(0.05), "schedule": 4, "num_steps": 20} | changes


def test_by_default_every_array_of_floats_is_trained():
    result = train(scaled(), {"train": regression(KEYS[1])}, **settings())
    assert not np.array_equal(result.model.mean, scaled().mean)
    assert not np.array_equal(result.model.deviation, scaled().deviation)


@pytest.mark.parametrize("solver", [sgd(0.05), ClosedForm(0.05)])
def test_a_filter_says_what_is_trained_and_the_rest_stays(solver):
    model, (x, y) = scaled(), regression(KEYS[1])
    chosen = only_the_network(model)
    result = train(model, {"train": (x, y)}, trainable=chosen, **settings(solver=solver))
    np.testing.assert_array_equal(result.model.mean, model.mean)
    np.testing.assert_array_equal(result.model.deviation, model.deviation)
    plain = train(model.network, {"train": ((x - 1) / 2, y)}, **settings(solver=solver))
    theta, expected = (ravel_pytree(run.state.params)[0] for run in (result, plain))
    np.testing.assert_allclose(theta, expected, rtol=1e-10, atol=1e-12)  # some dozens of steps of order 1 in float64
    (params, fn), (network, plain_fn) = functional(model, chosen), functional(model.network)
    kernel = empirical_ntk(fn, params, x)
    np.testing.assert_allclose(kernel, empirical_ntk(plain_fn, network, (x - 1) / 2), rtol=1e-10, atol=1e-12)


def test_runs_that_train_at_once_share_the_filter_and_keep_constants_of_their_own():
    model, data = scaled(), {"train": regression(KEYS[1])}
    models = [model, eqx.tree_at(lambda m: m.mean, model, jnp.zeros(3))]
    runs = [Run(m, data, sgd(0.05)) for m in models]
    shared = {"trainable": only_the_network(model)} | settings()
    shared.pop("solver")
    for result, one in zip(train_many(runs, **shared), models, strict=True):
        alone = train(one, data, trainable=only_the_network(model), **settings())
        np.testing.assert_array_equal(result.model.mean, one.mean)
        theta, expected = (ravel_pytree(run.state.params)[0] for run in (result, alone))
        np.testing.assert_allclose(theta, expected, rtol=1e-10, atol=1e-12)  # as above


def test_running_statistics_of_a_normalisation_are_kept_by_a_filter():
    class Normalised(eqx.Module):
        norm: eqx.nn.BatchNorm
        state: eqx.nn.State
        last: eqx.nn.Linear

        def __call__(self, x):
            return self.last(self.norm(x, self.state)[0])

    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="batch", mode="ema", inference=True)
    assert norm.ema_state_index is not None
    assert norm.ema_first_time_index is not None
    statistics = (jnp.array([1.0, 0.0, -1.0]), jnp.array([2.0, 1.0, 0.5]))
    state = state.set(norm.ema_state_index, statistics)
    state = state.set(norm.ema_first_time_index, jnp.array(False))
    model = Normalised(norm, state, eqx.nn.Linear(3, 2, key=KEYS[0]))
    none = jax.tree.map(lambda leaf: False, model)
    chosen = eqx.tree_at(lambda m: m.last, none, jax.tree.map(eqx.is_inexact_array, model.last))
    kept = train(model, {"train": regression(KEYS[1])}, trainable=chosen, **settings()).model
    for ours, theirs in zip(kept.state.get(norm.ema_state_index), statistics, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(kept.last.weight, model.last.weight)


def test_a_filter_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="the model has no parameters to train"):
        train(scaled(), {"train": regression(KEYS[1])}, trainable=lambda leaf: False, **settings())


class Wave(eqx.Module):
    """A model with a complex parameter."""

    weight: jax.Array

    def __call__(self, x):
        return jnp.abs(self.weight @ x)


def wave():
    return Wave(jax.random.normal(KEYS[0], (2, 3), jnp.complex128))


@pytest.mark.parametrize(
    "use",
    [
        functional,
        lambda model: train(model, {"train": regression(KEYS[1])}, **settings()),
        lambda model: empirical_ntk(lambda p, x: jax.vmap(p)(x), model, jnp.ones((2, 3), complex)),
        lambda model: Linearised(lambda p, x: jax.vmap(p)(x), model),
        lambda model: ggn_max_eigenvalue(
            lambda p, x: jax.vmap(p)(x), model, jnp.ones((2, 3)), jnp.ones((2, 2)), squared_error, KEYS[0]
        ),
    ],
)
def test_complex_parameters_are_refused_by_name(use):
    with pytest.raises(ValueError, match=r"the parameter \.weight is complex128: parameters must be real, so keep the"):
        use(wave())


def test_a_complex_constant_is_no_parameter():
    class Fourier(eqx.Module):
        frequencies: jax.Array
        last: eqx.nn.Linear

        def __call__(self, x):
            return self.last(jnp.real(jnp.exp(self.frequencies * x.astype(complex))))

    model = Fourier(jnp.array([1j, 2j, 3j]), eqx.nn.Linear(3, 2, key=KEYS[0]))
    real = lambda leaf: eqx.is_inexact_array(leaf) and not jnp.iscomplexobj(leaf)  # noqa: E731
    data = {"train": classification(KEYS[1])}
    result = train(model, data, trainable=real, **settings(loss=cross_entropy))
    np.testing.assert_array_equal(result.model.frequencies, model.frequencies)
