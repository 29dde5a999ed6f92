"""The laws of iterative linearisation."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.core import Tracer
from jax.flatten_util import ravel_pytree

from iterlin import (
    Every,
    Linearised,
    Loop,
    Never,
    OnConvergence,
    adam,
    cross_entropy,
    functional,
    sgd,
    squared_error,
)
from iterlin._batches import FullBatch
from iterlin._problem import Problem
from iterlin._start import initial_state
from iterlin._state import Stop
from tests.problems import affine, classification, dense_jacobian, mlp, regression, same, trained


def by_optax(model, data, loss, optimiser, num_steps, batches=None):
    """Plain training of the network, without any of our code but `functional`."""
    params, fn = functional(model)
    state = optimiser.init(params)
    x, y = data
    for step in range(num_steps):
        chosen = slice(None) if batches is None else batches[step]
        gradient = jax.grad(lambda p, i: loss(fn(p, x[i]), y[i]))(params, chosen)
        updates, state = optimiser.update(gradient, state, params)
        params = optax.apply_updates(params, updates)
    return ravel_pytree(params)[0]


@pytest.mark.parametrize("period", [2, 7, 100])
def test_all_periods_are_one_trajectory_for_a_model_linear_in_its_parameters(period):
    model, data = affine(jax.random.key(0)), regression(jax.random.key(1), inputs=2, out=3)
    reference, _ = trained(model, data)
    theta, _ = trained(model, data, schedule=Every(period))
    same(theta, reference)


@pytest.mark.parametrize(
    ("solver", "optimiser"),
    [
        (sgd(0.05), optax.sgd(0.05)),
        (sgd(0.05, momentum=0.9, at_feature_update="keep"), optax.sgd(0.05, momentum=0.9)),
        (sgd(0.05, momentum=0.9), optax.sgd(0.05)),  # momenta that are reset at every step are none
        (adam(0.01, at_feature_update="keep"), optax.adam(0.01)),
    ],
)
def test_period_1_is_the_plain_optimiser(solver, optimiser):
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    with jax.numpy_dtype_promotion("standard"):  # optax's Adam needs it
        theta, _ = trained(model, data, loss=cross_entropy, solver=solver)
        expected = by_optax(model, data, cross_entropy, optimiser, 30)
    same(theta, expected)


def test_period_1_with_mini_batches_is_plain_sgd_on_the_same_batches():
    model, data, key = mlp(jax.random.key(0)), classification(jax.random.key(1), n=11), jax.random.key(2)
    theta, _ = trained(model, data, loss=cross_entropy, batch_size=3, key=key)
    orders = [jax.random.permutation(jax.random.fold_in(key, epoch), jnp.arange(11)) for epoch in range(10)]
    batches = [order[3 * i : 3 * i + 3] for order in orders for i in range(3)]
    expected = by_optax(model, data, cross_entropy, optax.sgd(0.05), 30, batches)
    same(theta, expected)


def test_a_batch_of_all_examples_is_the_full_batch():
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    settings = {"loss": cross_entropy, "schedule": Every(4)}
    full, _ = trained(model, data, **settings)
    shuffled, _ = trained(model, data, batch_size=12, key=jax.random.key(2), **settings)
    same(shuffled, full)


def test_never_with_squared_error_follows_the_closed_form():
    """f_t = y + (I − ηΘ/n)ᵗ (f_0 − y), the discrete form of T eq. 19."""
    model, (x, y) = mlp(jax.random.key(0)), regression(jax.random.key(1))
    jacobian, theta0, unflatten, fn = dense_jacobian(model, x)
    theta, result = trained(model, (x, y), schedule=Never(), num_steps=200)
    ntk = jacobian @ jacobian.T
    propagator = jnp.linalg.matrix_power(jnp.eye(len(ntk)) - 0.05 * ntk / len(x), 200)
    expected = y.ravel() + propagator @ (fn(unflatten(theta0), x) - y).ravel()
    f_lin = fn(unflatten(theta0), x).ravel() + jacobian @ (theta - theta0)
    same(f_lin, expected)
    assert result.records[-1]["feature_updates"] == 0


def test_a_long_phase_is_the_least_norm_gauss_newton_step():
    """Lemma 3.2.1 with the pseudo-inverse: θ − φ⁺r."""
    model, (x, y) = mlp(jax.random.key(0)), regression(jax.random.key(1), n=4)
    jacobian, theta0, unflatten, fn = dense_jacobian(model, x)
    step_size = 1.5 * len(x) / jnp.linalg.norm(jacobian, 2) ** 2
    theta, _ = trained(model, (x, y), solver=sgd(step_size), schedule=Never(), num_steps=200_000)
    residual = (fn(unflatten(theta0), x) - y).ravel()
    # 2·10⁵ steps are rounded, and the slowest directions amplify that by κ(φ)² = 134: 134 · 2·10⁵ε = 6·10⁻⁹.
    np.testing.assert_allclose(theta, theta0 - jnp.linalg.pinv(jacobian) @ residual, rtol=0, atol=6e-9)


def test_a_damped_phase_is_the_damped_gauss_newton_step():
    """T eq. 10 with λ_T = 2nλ."""
    model, (x, y) = mlp(jax.random.key(0)), regression(jax.random.key(1))
    jacobian, theta0, unflatten, fn = dense_jacobian(model, x)
    damping = 0.1
    theta, _ = trained(model, (x, y), schedule=Never(), num_steps=2000, damping=damping)
    system = jacobian.T @ jacobian + 2 * len(x) * damping * jnp.eye(len(theta0))
    step = jnp.linalg.solve(system, jacobian.T @ (fn(unflatten(theta0), x) - y).ravel())
    left = (1 - 2 * 0.05 * damping) ** 2000 * jnp.linalg.norm(step)  # of the way, after so many steps with η = 0.05
    np.testing.assert_allclose(theta, theta0 - step, rtol=0, atol=left)


def prepared(model, loss, x, y, solver):
    """The lazy problem and the state with which training starts."""
    params, fn = functional(model)
    problem = Problem(fn, loss, FullBatch(), x, y, jnp.asarray(0.0), jnp.asarray(jnp.inf))
    return problem, initial_state(problem, params, solver, Never())


@jax.numpy_dtype_promotion("standard")  # optax's Adam needs it
def test_on_convergence_ends_a_phase_at_the_first_parameters_with_a_certificate():
    x, y = regression(jax.random.key(1))
    solver, schedule = adam(0.02), OnConvergence(0.1)
    problem, start = prepared(mlp(jax.random.key(0)), squared_error, x, y, solver)

    def norm(state):
        f_lin = Linearised(problem.fn, start.params)
        return optax.tree.norm(jax.grad(lambda p: squared_error(f_lin(p, x), y))(state.params))

    end = solver.advance(problem, schedule, start, Stop(5000, 0, 5000))
    step = int(end.step)
    before = solver.advance(problem, schedule, start, Stop(step - 1, step, step - 1))
    assert end.due
    assert not before.due
    assert norm(end) <= 0.1 * norm(start) < norm(before)
    after = solver.advance(problem, schedule, end.at_record(), Stop(step + 1, step, step + 1))
    assert (after.feature_updates, after.phase_step) == (1, 1)


def test_one_program_serves_every_period_learning_rate_and_seed():
    data, traces = classification(jax.random.key(1)), []

    def loss(outputs, labels):
        traces.extend([outputs] if isinstance(outputs, Tracer) else [])
        return cross_entropy(outputs, labels)

    trained(mlp(jax.random.key(0)), data, loss=loss, schedule=Every(2))
    first = len(traces)
    assert first > 0
    for seed, schedule, learning_rate in [(1, Every(10), 0.2), (2, Every(1000), 0.01), (3, Never(), 0.3)]:
        trained(mlp(jax.random.key(seed)), data, loss=loss, solver=sgd(learning_rate), schedule=schedule)
    assert len(traces) == first


def test_runs_batched_over_learning_rates_equal_single_runs():
    x, y = classification(jax.random.key(1))

    def theta(learning_rate):
        problem, start = prepared(mlp(jax.random.key(0)), cross_entropy, x, y, sgd(learning_rate))
        end = sgd(learning_rate).advance(problem, Every(5), start, Stop(20, 20, 20))
        return ravel_pytree(end.params)[0]

    rates = jnp.array([0.01, 0.1, 0.3])
    alone = jnp.stack([theta(rate) for rate in rates])
    same(jax.vmap(theta)(rates), alone)


def test_period_1_is_taken_on_the_network_and_equals_phases_of_one_step():
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    theta, result = trained(model, data, loss=cross_entropy)
    params, fn = functional(model)
    loop = Loop(fn, cross_entropy, sgd(0.05))
    state = loop.init(params)
    for _ in range(30):
        state = loop.relinearise(loop.step(state, *data))
    same(theta, ravel_pytree(state.params)[0])
    assert [r["feature_updates"] for r in result.records] == [max(0, r["step"] - 1) for r in result.records]
