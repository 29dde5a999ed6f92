"""Gradient flow: against closed forms, explicit steps and another integrator."""

from itertools import pairwise

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import (
    ClosedForm,
    Every,
    Flow,
    Linearised,
    Never,
    OnConvergence,
    Outcome,
    cross_entropy,
    functional,
    ggn_max_eigenvalue,
    sgd,
    squared_error,
    train,
)
from iterlin._solvers.flow import _whole_steps
from tests.problems import classification, mlp, regression

RATE = 1e-4


def trained(solver, schedule, num_steps, loss=cross_entropy, data=None, **settings):
    """The flat parameters after training, and the result."""
    data = data or classification(jax.random.key(1))
    settings = {"first_record": num_steps} | settings
    model = mlp(jax.random.key(0))
    result = train(model, {"train": data}, loss=loss, solver=solver, schedule=schedule, num_steps=num_steps, **settings)
    return ravel_pytree(result.state.params)[0], result


def distance(a, b):
    """Relative to the path from the initialisation to b."""
    start = ravel_pytree(functional(mlp(jax.random.key(0)))[0])[0]
    return float(jnp.linalg.norm(a - b) / jnp.linalg.norm(b - start))


def by_diffrax(field, time):
    """dθ/dτ = field(θ) for this time, to ten digits."""
    start, unflatten = ravel_pytree(functional(mlp(jax.random.key(0)))[0])
    term = diffrax.ODETerm(lambda t, theta, _: ravel_pytree(field(unflatten(theta)))[0])
    control = diffrax.PIDController(rtol=1e-10, atol=1e-10)
    solution = diffrax.diffeqsolve(
        term, diffrax.Dopri8(), 0.0, time, 1e-3, start, stepsize_controller=control, max_steps=100_000
    )
    assert solution.ys is not None
    return solution.ys[-1]


@pytest.mark.parametrize("damping", [0.0, 0.03])
@pytest.mark.parametrize("num_steps", [1000, 100_000, 10_000_000])
def test_a_lazy_phase_with_squared_error_is_the_closed_form(num_steps, damping):
    data = regression(jax.random.key(1))
    settings = {"loss": squared_error, "data": data, "damping": damping}
    expected, _ = trained(ClosedForm(RATE, continuous=True), Never(), num_steps, **settings)
    errors = []
    for tolerance in (1e-1, 1e-2, 1e-3):
        theta, result = trained(Flow(RATE, tolerance), Never(), num_steps, **settings)
        errors.append(distance(theta, expected))
        assert errors[-1] <= 2 * tolerance
        assert result.records[-1]["step"] == num_steps
    assert errors[-1] < errors[0]


def test_a_lazy_phase_with_cross_entropy_is_that_of_another_integrator():
    x, y = classification(jax.random.key(1))
    params0, fn = functional(mlp(jax.random.key(0)))
    predict = Linearised(fn, params0).on(x)
    expected = by_diffrax(lambda p: jax.tree.map(jnp.negative, jax.grad(lambda q: cross_entropy(predict(q), y))(p)), 30)
    for tolerance in (1e-1, 1e-2, 1e-3):
        theta, _ = trained(Flow(RATE, tolerance), Never(), 300_000)
        assert distance(theta, expected) <= 2 * tolerance


def test_period_1_is_the_flow_of_the_network():
    x, y = classification(jax.random.key(1))
    _, fn = functional(mlp(jax.random.key(0)))
    expected = by_diffrax(lambda p: jax.tree.map(jnp.negative, jax.grad(lambda q: cross_entropy(fn(q, x), y))(p)), 30)
    for tolerance in (1e-1, 1e-2, 1e-3):
        theta, result = trained(Flow(RATE, tolerance), Every(1), 300_000)
        assert distance(theta, expected) <= 2 * tolerance
        assert result.records[-1]["feature_updates"] > 100_000


def phases_of(time):
    return lambda rate: Every(max(1, round(time / rate)))


@pytest.mark.parametrize(
    ("explicitly", "flowing"),
    [
        (lambda rate: Never(), lambda rate: Never()),
        (phases_of(0.5), phases_of(0.5)),
        (phases_of(0), phases_of(0)),
    ],
)
def test_explicit_steps_approach_the_flow_at_order_1(explicitly, flowing):
    flow, _ = trained(Flow(1e-3, 1e-5), flowing(1e-3), 2000)
    errors = [distance(trained(sgd(rate), explicitly(rate), round(2 / rate))[0], flow) for rate in (2e-2, 1e-2, 5e-3)]
    assert errors[0] < 0.05
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 2, rtol=0.1)


@pytest.mark.parametrize("seed", [1, 6])
def test_the_loss_never_grows_within_a_phase(seed):
    """Also not where cross-entropy is saturated: there the curvature is tiny at first, and grows within a step."""
    model = mlp(jax.random.key(seed), out=3, activation=jax.nn.relu)
    model = jax.tree.map(lambda leaf: 10 * leaf if eqx.is_array(leaf) else leaf, model)
    data = {"train": classification(jax.random.key(seed + 10), n=30, classes=3)}
    settings = {"solver": Flow(1e-3), "schedule": Every(10**6), "num_steps": 6 * 10**6, "first_record": 1000}
    result = train(model, data, loss=cross_entropy, records_per_decade=30, divergence_factor=jnp.inf, **settings)
    pairs = [pair for pair in pairwise(result.records) if pair[0]["feature_updates"] == pair[1]["feature_updates"]]
    assert all(after["proxy_train_loss"] <= before["proxy_train_loss"] for before, after in pairs)
    assert result.state.feature_updates == 5


def test_leaving_a_saddle_the_estimate_is_too_small_and_a_second_tolerance_tells():
    """From small weights errors grow with the network: the flow's is about twice the distance of two tolerances."""
    model = eqx.nn.MLP(3, 2, 8, 3, jnp.tanh, key=jax.random.key(0))
    model = jax.tree.map(lambda leaf: leaf / 4 if eqx.is_array(leaf) else leaf, model)
    data = {"train": regression(jax.random.key(10), n=20)}

    def flowed(tolerance):
        settings = {"num_steps": 400_000, "first_record": 400_000, "schedule": 1, "loss": squared_error}
        return train(model, data, solver=Flow(1e-4, tolerance), **settings)

    exact, coarse, fine = map(flowed, (1e-4, 0.1, 0.03))
    path = exact.state.solver_state.path
    end, reached, nearer = (ravel_pytree(result.state.params)[0] for result in (exact, coarse, fine))
    error, difference = (jnp.linalg.norm(reached - other) / path for other in (end, nearer))
    assert error > 1.5 * coarse.report["error_estimate"]
    assert 0.4 < difference / error < 0.8


def test_phases_records_and_updates_are_those_of_explicit_steps():
    settings = {"num_steps": 1000, "first_record": 1, "records_per_decade": 4}
    counts = ("step", "phase_step", "feature_updates")
    for period in (7, 250, 2000):
        _, explicit = trained(sgd(RATE), Every(period), **settings)
        _, flow = trained(Flow(RATE), Every(period), **settings)
        assert [[record[name] for name in counts] for record in flow.records] == [
            [record[name] for name in counts] for record in explicit.records
        ]


def test_a_long_time_takes_few_evaluations():
    """Explicit steps need ηρ < 2; the flow's stages grow as the square root of that, and evaluations are counted."""
    calls = []

    def loss(outputs, labels):
        jax.debug.callback(lambda: calls.append(1))
        return cross_entropy(outputs, labels)

    _, result = trained(Flow(RATE), Never(), 2**31 - 2, loss=loss)
    jax.effects_barrier()
    evaluations, report = result.records[-1]["evaluations"], result.report
    assert evaluations < 2000
    assert evaluations < report["eta_lambda_max"] * 2**31 / 100
    # One is the reference for divergence, and each record has two for the network and two for its proxy.
    assert evaluations <= len(calls) <= 1.5 * evaluations + 20


def test_the_report():
    x, y = classification(jax.random.key(1))
    params, fn = functional(mlp(jax.random.key(0)))
    sharpest = ggn_max_eigenvalue(fn, params, x, y, cross_entropy, jax.random.key(2))
    _, result = trained(Flow(RATE, 1e-2), Never(), 1000)
    np.testing.assert_allclose(result.report["eta_lambda_max"], RATE * sharpest, rtol=0.02)
    assert 0 < result.report["error_estimate"] <= 1e-2


def test_where_explicit_steps_are_unstable_the_report_says_so():
    settings = {"loss": squared_error, "data": regression(jax.random.key(1)), "num_steps": 2000}
    _, explicit = trained(sgd(5.0), Never(), **settings)
    _, flow = trained(Flow(5.0), Never(), **settings)
    assert explicit.outcome is Outcome.diverged
    assert flow.outcome is Outcome.step_limit
    assert flow.report["eta_lambda_max"] > 2
    assert trained(sgd(RATE), Never(), **settings)[1].report == {}


def test_on_convergence_ends_the_phases_of_the_flow():
    _, result = trained(Flow(RATE), OnConvergence(0.1), 10_000_000, first_record=100)
    assert result.state.feature_updates > 1


def test_a_network_that_is_not_finite_is_divergence_at_step_0():
    model = jax.tree.map(lambda leaf: leaf * jnp.nan if eqx.is_array(leaf) else leaf, mlp(jax.random.key(0)))
    data = {"train": classification(jax.random.key(1))}
    result = train(model, data, loss=cross_entropy, solver=Flow(RATE), schedule=Never(), num_steps=1000)
    assert (result.outcome, result.records[-1]["step"]) == (Outcome.diverged, 0)


@pytest.mark.parametrize(
    ("solver", "settings", "message"),
    [
        (
            Flow,
            {"batch_size": 3, "key": jax.random.key(0)},
            "gradient flow takes full batches: leave batch_size out",
        ),
    ],
)
def test_impossible_settings(solver, settings, message):
    with pytest.raises(ValueError, match=message):
        trained(solver(RATE), Every(1), 100, **settings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0.0,), "the learning rate η must be positive and finite, got 0"), ((1.0, -1), "the tolerance must be positive")],
)
def test_impossible_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Flow(*arguments)


def test_an_attempt_that_was_refused_is_never_made_again():
    """Whatever is left of a phase, no more steps are taken at once than wanted, down to a single one."""
    limits = jnp.arange(1, 60, dtype=jnp.int32)
    for wanted in (0.3, 1.0, 1.58, 2.0, 2.4, 7.9, 31.0, 1e6):
        steps = jax.vmap(lambda limit, wanted=wanted: _whole_steps(jnp.asarray(wanted), limit))(limits)
        assert jnp.all((steps >= 1) & (steps <= limits) & ((steps.astype(float) <= wanted) | (steps == 1)))


@pytest.mark.parametrize("learning_rate", [0.001, 0.003])
def test_the_network_s_own_flow_goes_on_where_few_steps_are_left(learning_rate):
    model, data = mlp(jax.random.key(0), activation=jax.nn.relu), classification(jax.random.key(1))
    settings = {"solver": Flow(learning_rate), "schedule": Every(1), "num_steps": 3000, "records_per_decade": 10}
    result = train(model, {"train": data}, loss=cross_entropy, **settings)
    assert result.records[-1]["step"] == 3000
