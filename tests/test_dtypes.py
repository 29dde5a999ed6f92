"""Models of 16, 32 and 64 bits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import (
    ClosedForm,
    Flow,
    Ridge,
    Truncated,
    adam,
    cross_entropy,
    empirical_ntk,
    empirical_ntk_by_leaf,
    functional,
    only,
    sgd,
    squared_error,
)
from tests.problems import classification, mlp, regression, trained

KEYS = jax.random.key(0), jax.random.key(1)
EPS = {"bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}


def cast(tree, dtype):
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, tree)


MODEL, DATA = cast((mlp(KEYS[0]), classification(KEYS[1])), "bfloat16")  # numbers that all types have


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("schedule", [1, 5])
# Adam divides by the root of small squares: the bounds are about twice what was seen.
@pytest.mark.parametrize(("solver", "bound"), [(sgd(0.25, momentum=0.5), 8), (adam(0.03125), 60)], ids=["sgd", "adam"])
def test_a_model_trains_in_its_own_type_to_the_same_up_to_its_rounding(dtype, schedule, solver, bound):
    settings = {"loss": cross_entropy, "schedule": schedule, "solver": solver, "num_steps": 20}
    with jax.numpy_dtype_promotion("standard"):  # for adam
        exact, expected = trained(*cast((MODEL, DATA), "float64"), **settings)
        theta, result = trained(*cast((MODEL, DATA), dtype), **settings)
    assert theta.dtype == dtype
    assert result.outcome.name == "step_limit"
    assert jnp.linalg.norm(theta.astype(float) - exact) < bound * EPS[dtype] * jnp.linalg.norm(exact)
    for name in ("network_train_loss", "proxy_train_loss", "distance_init"):
        assert result.records[-1][name] == pytest.approx(expected.records[-1][name], rel=bound * EPS[dtype])
    assert result.records[0]["linearisation_error"] == 0


@pytest.mark.parametrize("dtype", EPS)
def test_a_kernel_has_the_type_of_the_parameters_and_its_rounding(dtype):
    exact, x = cast((MODEL, DATA[0]), "float64")
    params, fn = functional(exact)
    expected = empirical_ntk(fn, params, x)
    params, fn = functional(cast(exact, dtype))
    found = empirical_ntk(fn, params, x.astype(dtype))
    assert found.dtype == jnp.dtype(dtype)
    np.testing.assert_allclose(found.astype(float), expected, atol=20 * EPS[dtype] * expected.max())
    parts = sum(part.astype(float) for part in empirical_ntk_by_leaf(fn, params, x.astype(dtype)).values())
    np.testing.assert_allclose(parts, expected, atol=20 * EPS[dtype] * expected.max())


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        (Flow(0.1), "gradient flow"),
        (Truncated(0.1), "truncated Gauss–Newton"),
        (Ridge(factorisation="qr"), "the ridge solver"),
        (ClosedForm(0.1), "the closed form"),
    ],
)
def test_a_solver_that_estimates_errors_refuses_16_bits(solver, name):
    data = cast(regression(KEYS[1]), "bfloat16")
    wanted = (
        rf"{name} takes parameters of 32 bits or 64, and .layers\[0\].weight is bfloat16: cast the model to float32"
    )
    with pytest.raises(ValueError, match=wanted):
        trained(MODEL, data, loss=squared_error, solver=solver, schedule=5)


def mixed():
    return eqx.tree_at(lambda model: model.layers[1].weight, cast(MODEL, "float32"), MODEL.layers[1].weight)


def test_parameters_of_several_types_are_refused_unless_those_of_one_type_are_trained():
    wanted = (
        r"the parameter .layers\[1\].weight is bfloat16, and .layers\[0\].weight is float32: cast the parameters to "
        "one dtype, or leave some out of `trainable`"
    )
    with pytest.raises(ValueError, match=wanted):
        trained(mixed(), DATA, loss=cross_entropy)
    last = only(mixed(), lambda model: model.layers[2])
    with jax.numpy_dtype_promotion("standard"):
        theta, result = trained(mixed(), DATA, loss=cross_entropy, trainable=last)
    assert theta.dtype == jnp.float32
    assert result.records[-1]["network_train_loss"] < result.records[0]["network_train_loss"]


def test_a_kernel_of_parameters_of_several_types_has_the_widest():
    x = DATA[0].astype("float32")
    params, fn = functional(cast(MODEL, "float32"))
    expected = empirical_ntk(fn, params, x)
    with jax.numpy_dtype_promotion("standard"):
        params, fn = functional(mixed())
        found = empirical_ntk(fn, params, x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=4 * EPS["bfloat16"] * expected.max())


def test_64_bits_that_jax_does_not_have_are_refused():
    model = jax.tree.map(lambda leaf: np.asarray(leaf, "float64") if eqx.is_array(leaf) else leaf, MODEL)
    with (
        jax.enable_x64(False),
        pytest.raises(ValueError, match=r"the parameter .layers\[0\].weight is float64, and jax has 32"),
    ):
        trained(model, tuple(np.asarray(part) for part in cast(DATA, "float32")), loss=cross_entropy)
