"""The output scale α: outputs that start at zero, their kernel, and how lazily they train."""

import itertools

import equinox as eqx
import jax
import numpy as np
import optax
import pytest

from iterlin import Rescaled, empirical_ntk, functional, only, sgd, squared_error, train
from tests.problems import mlp, regression, same

MODEL = mlp(jax.random.key(0))
DATA = regression(jax.random.key(1))


def trained(scale, num_steps=40):
    """K = 1 with η/α², so that the outputs change as fast at the start whatever α is."""
    model = Rescaled(MODEL, scale)
    where = only(model, lambda rescaled: rescaled.model)
    return train(
        model,
        {"train": DATA},
        loss=squared_error,
        solver=sgd(0.05 / scale**2),
        schedule=1,
        num_steps=num_steps,
        key=jax.random.key(2),
        trainable=where,
    )


def outputs(model):
    return jax.vmap(model)(DATA[0])


def test_outputs_start_at_zero_and_are_scaled():
    same(outputs(Rescaled(MODEL, 3.0)), 0)
    other = mlp(jax.random.key(5))
    moved = eqx.tree_at(lambda rescaled: rescaled.model, Rescaled(MODEL, 3.0), other)
    same(outputs(moved), 3 * (outputs(other) - outputs(MODEL)))


def test_the_kernel_is_the_square_of_the_scale_times_that_of_the_model():
    model = Rescaled(MODEL, 3.0)
    params, fn = functional(model, only(model, lambda rescaled: rescaled.model))
    own, plain = functional(MODEL)
    same(empirical_ntk(fn, params, DATA[0]), 9 * empirical_ntk(plain, own, DATA[0]))


def test_where_it_starts_stays():
    model = trained(2.0).model
    assert eqx.tree_equal(model.initial, MODEL)
    assert not eqx.tree_equal(model.model, MODEL)


def test_parameters_move_by_one_over_the_scale_as_it_grows():
    """The lazy limit: α(θ − θ₀) has a limit, and the outputs that of the linear model (Chizat et al. 2019)."""
    scales, moved, reached = [100.0, 200.0, 400.0], [], []
    for scale in scales:
        model = trained(scale).model
        change = optax.tree.sub(*(eqx.filter(part, eqx.is_array) for part in (model.model, model.initial)))
        moved.append(scale * float(optax.tree.norm(change)))
        reached.append(np.asarray(outputs(model)))
    gaps = [float(np.linalg.norm(a - b)) for a, b in itertools.pairwise(reached)]
    assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.05)  # of first order in 1/α
    assert moved[2] == pytest.approx(moved[1], rel=0.01)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_scales_are_refused(scale):
    with pytest.raises(ValueError, match="the output scale α must be positive and finite, got"):
        Rescaled(MODEL, scale)
