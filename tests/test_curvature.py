"""The largest curvature of the network's loss."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import (
    Every,
    cross_entropy,
    functional,
    ggn_max_eigenvalue,
    hessian_max_eigenvalue,
    squared_error,
    train,
)
from iterlin._curvature import lanczos_max
from tests.problems import affine, classification, dense_jacobian, mlp, regression, same

KEYS = tuple(jax.random.split(jax.random.key(0), 3))
PROBLEMS = {
    "squared error": (mlp(KEYS[0]), regression(KEYS[1]), squared_error),
    "cross-entropy": (mlp(KEYS[0]), classification(KEYS[1]), cross_entropy),
}


def symmetric(eigenvalues, seed=5):
    """A dense matrix with these eigenvalues."""
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(eigenvalues), len(eigenvalues))))
    return jnp.asarray((q * eigenvalues) @ q.T)


def largest(matrix, num_iterations, key=KEYS[0]):
    return lanczos_max(lambda v: matrix @ v, jnp.zeros(len(matrix)), key, num_iterations).item()


def dense_hessian(model, x, y, loss):
    _, theta, unflatten, fn = dense_jacobian(model, x)
    return jax.hessian(lambda theta: loss(fn(unflatten(theta), x), y))(theta)


@pytest.mark.parametrize(
    "eigenvalues",
    [
        np.linspace(-1, 1, 30),
        -np.linspace(1, 3, 30),  # where a zero would be the largest
        np.r_[-100.0, np.linspace(0, 1, 29)],  # the largest magnitude is not the largest
        np.r_[np.full(10, -2.0), np.full(20, -1.0)],  # two different ones: exhausted after two steps
        np.full(30, -3.0),
        np.zeros(30),
    ],
)
@pytest.mark.parametrize("num_iterations", [30, 200])
def test_with_as_many_iterations_as_dimensions_it_is_the_largest_eigenvalue(eigenvalues, num_iterations):
    scale = np.abs(eigenvalues).max()
    # The error is that of rounding: some ε‖H‖ for each of 30 vectors in 30 dimensions.
    assert largest(symmetric(eigenvalues), num_iterations) == pytest.approx(eigenvalues.max(), rel=0, abs=1e-12 * scale)


def test_it_rises_to_the_largest_with_the_iterations():
    matrix = symmetric(np.linspace(-1, 1, 100) ** 3)
    found = np.array([largest(matrix, k) for k in (1, 2, 5, 10, 20, 40)])
    assert (np.diff(found) > 0).all()  # Krylov spaces contain each other
    assert found[-1] <= 1 + 1e-12
    # Kaniel and Paige bound it by 8 tan²∠ exp(−4·39√γ), with the relative gap γ = 0.03, and tan²∠ of some 10⁴ at most.
    assert found[-1] == pytest.approx(1, abs=1e-7)


def test_shift_and_scale_of_the_matrix_are_those_of_the_estimate():
    matrix = symmetric(np.linspace(-1, 1, 50))
    same(largest(3 * matrix - 7 * jnp.eye(50), 10), 3 * largest(matrix, 10) - 7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_is_that_of_the_dense_hessian_which_is_indefinite(name):
    model, (x, y), loss = PROBLEMS[name]
    eigenvalues = jnp.linalg.eigvalsh(dense_hessian(model, x, y, loss))
    assert eigenvalues[0] < -0.01
    params, fn = functional(model)
    found = hessian_max_eigenvalue(fn, params, x, y, loss, KEYS[2], num_iterations=60)
    same(found, eigenvalues[-1])
    few = hessian_max_eigenvalue(fn, params, x, y, loss, KEYS[2], num_iterations=15)
    np.testing.assert_allclose(few, eigenvalues[-1], rtol=1e-6)
    assert few <= eigenvalues[-1] * (1 + 1e-12)


def test_for_a_model_linear_in_its_parameters_it_is_that_of_gauss_and_newton():
    params, fn = functional(affine(KEYS[0]))
    data = regression(KEYS[1], inputs=2, out=3)
    expected = ggn_max_eigenvalue(fn, params, *data, squared_error, KEYS[2], num_iterations=2000)
    same(hessian_max_eigenvalue(fn, params, *data, squared_error, KEYS[2]), expected)


def test_it_is_compiled_and_in_single_precision_it_agrees():
    model, (x, y), loss = PROBLEMS["squared error"]
    params, fn = functional(model)
    expected = hessian_max_eigenvalue(fn, params, x, y, loss, KEYS[2])
    same(eqx.filter_jit(hessian_max_eigenvalue)(fn, params, x, y, loss, KEYS[2]), expected)
    single, fn = functional(jax.tree.map(lambda a: a.astype(jnp.float32) if eqx.is_array(a) else a, model))
    found = hessian_max_eigenvalue(fn, single, x.astype(jnp.float32), y.astype(jnp.float32), loss, KEYS[2])
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5)  # some hundred roundings of 6·10⁻⁸


def test_a_network_that_is_not_finite_has_no_curvature():
    model, (x, y), loss = PROBLEMS["squared error"]
    params, fn = functional(model)
    params = jax.tree.map(lambda a: a * jnp.nan, params)
    assert jnp.isnan(hessian_max_eigenvalue(fn, params, x, y, loss, KEYS[2]))


def test_gradient_descent_is_unstable_above_two_over_the_sharpness():
    """On a quadratic, where that is exact: near its minimum the loss of an affine model grows or falls."""
    model, data = affine(KEYS[0]), regression(KEYS[1], inputs=2, out=3)
    params, fn = functional(model)
    curvature = hessian_max_eigenvalue(fn, params, *data, squared_error, KEYS[2]).item()
    losses = {}
    for factor in (1.99, 2.01):
        settings = {"loss": squared_error, "schedule": Every(1), "num_steps": 3000}
        records = train(model, {"train": data}, solver=factor / curvature, **settings).records
        losses[factor] = records[-1]["network_train_loss"] / records[0]["network_train_loss"]
    assert losses[1.99] < 1 < losses[2.01]


def test_no_iteration_is_refused():
    params, fn = functional(affine(KEYS[0]))
    data = regression(KEYS[1], inputs=2, out=3)
    with pytest.raises(ValueError, match=r"^num_iterations must be at least 1, got 0$"):
        hessian_max_eigenvalue(fn, params, *data, squared_error, KEYS[2], num_iterations=0)


def test_complex_parameters_are_refused():
    x, y = jnp.ones((2, 3)), jnp.ones((2, 2))
    with pytest.raises(ValueError, match="the parameter θ is complex128: parameters must be real"):
        hessian_max_eigenvalue(lambda p, x: jnp.abs(x @ p), jnp.ones((3, 2), complex), x, y, squared_error, KEYS[0])
