"""What rounding makes of phases in closed form, and that their estimate says so."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import ClosedForm
from iterlin._solvers.eigenbasis import eigenbasis
from tests.phases import KEYS, RATE, dense, trained
from tests.problems import dense_jacobian, mlp, regression


def cast(tree, dtype):
    return jax.tree.map(lambda v: v.astype(dtype) if eqx.is_array(v) else v, tree)


@pytest.mark.parametrize(("num_steps", "bound"), [(100, 1e-6), (10_000, 1e-4), (1_000_000, 3e-3)])
def test_the_error_of_float32_is_that_of_the_estimate(num_steps, bound):
    """The error of f_lin(θ_t), relative to r_0, against the closed form in float64."""
    jacobian, _, residual, data = dense()
    exact, _ = trained(ClosedForm(RATE), num_steps=num_steps)
    theta, result = trained(ClosedForm(RATE), *cast((mlp(KEYS[0]), data), "float32"), num_steps=num_steps)
    assert theta.dtype == jnp.float32
    estimate = ClosedForm(RATE).report(result.state.solver_state)["error_estimate"]
    error = np.linalg.norm(jacobian @ (np.asarray(theta, float) - exact)) / np.linalg.norm(residual)
    assert error / 3 < estimate < min(3 * error, bound)


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("num_steps", [10**6, 10**8, 2 * 10**9])
def test_eigenvalues_that_are_zero_up_to_rounding_do_not_move(num_steps, continuous):
    """180 outputs and 22 parameters: 158 eigenvalues are zero, and their rounding would be amplified by ηt."""
    model = eqx.nn.MLP(2, 2, 4, 1, jnp.tanh, key=KEYS[0])
    model, data = cast((model, regression(KEYS[1], n=90, inputs=2)), "float32")
    wide = cast((model, data), "float64")
    exact, reference = trained(ClosedForm(0.05, continuous), *wide, num_steps=num_steps)
    theta, result = trained(ClosedForm(0.05, continuous), model, data, num_steps=num_steps)
    jacobian, theta0, unflatten, fn = dense_jacobian(wide[0], wide[1][0])
    assert theta.size == 22
    assert theta.dtype == jnp.float32
    theta = np.asarray(theta, float)
    assert np.linalg.norm(theta - exact) < 1e-3 * np.linalg.norm(exact - theta0)
    losses = [run.records[-1]["proxy_train_loss"] for run in (result, reference)]
    np.testing.assert_allclose(*losses, rtol=1e-6)
    residual = fn(unflatten(theta0), wide[1][0]) - wide[1][1]
    error = np.linalg.norm(jacobian @ (theta - exact)) / np.linalg.norm(residual)
    assert result.report["error_estimate"] > error / 3


def test_the_estimate_covers_what_rounding_hides():
    """Eigenvalues below the rounding of float32 are not zero: their directions are held still, and lack their way."""
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    eigenvalues = np.geomspace(1e-7, 1, 40)
    gram, residual = (vectors * eigenvalues) @ vectors.T, np.ones(40)
    exact = eigenbasis(gram, residual, 20, 100, 0.0)
    rounded = eigenbasis(gram.astype(np.float32), residual, 20, 100, 0.0)
    assert 3 < (rounded.eigenvalues == 0).sum() < 20
    for steps in (10, 10**4, 10**6, 10**9):
        outputs = [
            basis.vectors @ (basis.eigenvalues * ClosedForm(1.0).dual(basis, steps)) for basis in (exact, rounded)
        ]
        error, bound = np.linalg.norm(np.subtract(*outputs)), np.linalg.norm(ClosedForm(1.0).undecided(rounded, steps))
        assert error < 1.2 * bound + 1e-2 * np.linalg.norm(residual)
    assert error > 0.1 * np.linalg.norm(residual)  # in the end it is not small
    certain = eigenbasis(gram.astype(np.float32), residual, 20, int(np.sum(rounded.eigenvalues > 0)), 0.0)
    assert not ClosedForm(1.0).undecided(certain, 10**9).any()  # so few parameters leave the other eigenvalues zero
