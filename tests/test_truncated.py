"""Truncated Gauss–Newton: its certificate, its limits, and cross-entropy."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import optimistix as optx
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import (
    Every,
    Linearised,
    Never,
    OnConvergence,
    Ridge,
    Run,
    Truncated,
    cross_entropy,
    functional,
    sgd,
    train,
    train_many,
)
from iterlin._solvers import conjugate_gradients as cg
from iterlin._solvers.conjugate_gradients import conjugate_gradients
from tests.problems import classification, dense_jacobian, mlp, one_step, regression, trained

KEYS = jax.random.key(0), jax.random.key(1)


def records(data, solver, **settings):
    defaults = {"schedule": Every(1), "num_steps": 1, "records_per_decade": 1000}
    return trained(mlp(KEYS[0]), data, solver=solver, **(defaults | settings))


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_a_step_solves_the_system_to_its_tolerance(damping):
    """‖r_t‖ ≤ β‖φᵀr‖ (T Algorithm 2), with a dense φ."""
    data = regression(KEYS[1])
    phi, theta0, unflatten, fn = dense_jacobian(mlp(KEYS[0]), data[0])
    gradient = phi.T @ (fn(unflatten(theta0), data[0]) - data[1]).ravel() / 12
    matrix = phi.T @ phi / 12 + 2 * damping * jnp.eye(len(theta0))
    for beta in (0.5, 1e-2, 1e-6):
        theta, _ = one_step(Truncated(beta), mlp(KEYS[0]), data, damping=damping)
        assert jnp.linalg.norm(matrix @ (theta - theta0) + gradient) <= beta * (1 + 1e-6) * jnp.linalg.norm(gradient)


@pytest.mark.parametrize("damping", [0.0, 1e-3])
def test_it_tends_to_the_exact_step(damping):
    model, data = mlp(KEYS[0]), regression(KEYS[1])
    exact, _ = one_step(Ridge(factorisation="qr"), model, data, damping=damping)
    steps = [one_step(Truncated(beta), model, data, damping=damping)[0] for beta in (1e-1, 1e-4, 1e-8)]
    errors = [float(jnp.linalg.norm(step - exact)) for step in steps]
    if damping:
        assert errors[0] > 10 * errors[1] > 100 * errors[2]
    else:  # after as many iterations as there are outputs nothing is left to solve
        assert errors[1] < 1e-10 * errors[0]
    assert errors[2] < 1e-5


@pytest.mark.parametrize("tolerance", [1e-2, 1e-8])
def test_conjugate_gradients_solve_what_lineax_solves(tolerance):
    factor = jax.random.normal(KEYS[0], (20, 20))
    matrix, target = factor @ factor.T + jnp.eye(20), jax.random.normal(KEYS[1], (20,))
    bound = tolerance * jnp.linalg.norm(target)
    found, iterations = conjugate_gradients(lambda v: matrix @ v, target, bound, 100)
    assert jnp.linalg.norm(target - matrix @ found) <= bound * (1 + 1e-8)
    operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
    expected = lx.linear_solve(operator, target, lx.CG(rtol=1e-10, atol=1e-10)).value
    assert jnp.linalg.norm(found - expected) <= tolerance * jnp.linalg.norm(target)  # as no eigenvalue is below 1
    assert 0 < iterations <= 100


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conjugate_gradients_end_after_as_many_iterations_as_there_are_eigenvalues(dtype, monkeypatch):
    """As they do without rounding; where no residuals are kept, they take half as many again, or more."""
    vectors, _ = jnp.linalg.qr(jax.random.normal(KEYS[0], (40, 40), dtype))
    scale = 3 if dtype == "float32" else 8
    matrix = vectors @ jnp.diag(jnp.logspace(0, -scale, 40, dtype=dtype)) @ vectors.T
    target = matrix @ jax.random.normal(KEYS[1], (40,), dtype)
    bound = jnp.finfo(dtype).eps * 30 * jnp.linalg.norm(target)

    def iterations():
        return conjugate_gradients(lambda v: matrix @ v, target, bound, 1000)[1]

    assert iterations() <= 41
    monkeypatch.setattr(cg, "KEPT_BYTES", 0)
    assert iterations() > 60


def test_conjugate_gradients_end_at_the_border_of_a_ball():
    factor = jax.random.normal(KEYS[0], (20, 20))
    matrix, target = factor @ factor.T + jnp.eye(20), jax.random.normal(KEYS[1], (20,))
    whole, _ = conjugate_gradients(lambda v: matrix @ v, target, jnp.asarray(1e-9), 100)
    lengths, values = [], []
    for part in (0.1, 0.5, 0.9, 1.1):
        radius = part * jnp.linalg.norm(whole)
        x, _ = conjugate_gradients(lambda v: matrix @ v, target, jnp.asarray(1e-9), 100, radius)
        lengths.append(float(jnp.linalg.norm(x) / jnp.linalg.norm(whole)))
        values.append(float(x @ matrix @ x / 2 - target @ x))
    assert lengths == pytest.approx([0.1, 0.5, 0.9, 1], rel=1e-6)
    assert values == sorted(values, reverse=True)


def test_along_a_flat_direction_they_go_to_the_border_if_there_is_one():
    def flat(v):
        return v * jnp.array([1.0, 0.0])

    bounds = jnp.array([0.0, 1.0]), jnp.asarray(1e-9), 10
    np.testing.assert_allclose(conjugate_gradients(flat, *bounds, 3.0)[0], [0, 3])
    np.testing.assert_allclose(conjugate_gradients(flat, *bounds)[0], [0, 0])


def test_a_saturated_softmax_that_is_wrong_is_mended_in_float32():
    """Its loss is large and its curvature next to none, as where a network is re-linearised after a long phase."""
    model, (x, y) = mlp(KEYS[0], inputs=5, out=6), classification(KEYS[1], n=30, inputs=5, classes=6)
    model = eqx.tree_at(lambda model: model.layers[-1].weight, model, replace_fn=lambda weight: 100 * weight)
    model, x = jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, (model, x))
    settings = {"loss": cross_entropy, "schedule": OnConvergence(1e-2), "num_steps": 25, "records_per_decade": 1000}
    _, result = trained(model, (x, y), solver=Truncated(1e-2), **settings)
    first = [record for record in result.records if record["feature_updates"] == 0]
    losses = [record["proxy_train_loss"] for record in first]
    assert losses[0] > 30
    assert all(after <= before for before, after in pairwise(losses))
    assert first[-1]["certificate"] <= 1e-2 < first[-2]["certificate"]
    assert first[-1]["proxy_train_accuracy"] == 1
    assert result.records[-1]["evaluations"] < 400


def test_the_most_iterations_bound_a_step():
    data = regression(KEYS[1])
    _theta, result = records(data, Truncated(1e-12, max_iterations=3))
    assert result.report == {"cg_iterations": 3, "longest_step": 3}
    assert result.records[-1]["certificate"] > 1e-12


@pytest.mark.parametrize("beta", [1e-6])
def test_for_cross_entropy_a_phase_ends_with_its_certificate(beta):
    data, damping = classification(KEYS[1], n=30), 1e-3
    settings = {"loss": cross_entropy, "schedule": OnConvergence(beta), "num_steps": 100, "damping": damping}
    _, result = records(data, Truncated(beta), **settings)
    ends = [a for a, b in pairwise(result.records) if b["feature_updates"] > a["feature_updates"]]
    assert len(ends) >= 3
    assert all(record["certificate"] <= beta for record in ends)


def test_a_damped_phase_with_cross_entropy_ends_at_its_minimiser():
    data, damping = classification(KEYS[1], n=30), 1e-3
    theta, result = records(data, Truncated(1e-9), loss=cross_entropy, schedule=Never(), num_steps=12, damping=damping)
    params0, fn = functional(mlp(KEYS[0]))
    flat, unflatten = ravel_pytree(params0)
    linearised = Linearised(fn, params0)

    def objective(theta, _):
        penalty = damping * jnp.sum((theta - flat) ** 2)
        return cross_entropy(linearised(unflatten(theta), data[0]), data[1]) + penalty

    expected = optx.minimise(objective, optx.BFGS(rtol=1e-10, atol=1e-10), flat, max_steps=5000).value
    # With its curvature of at least 2λ, BFGS ends no farther from the minimiser than ‖∇‖/2λ: twice that is allowed.
    bound = float(jnp.linalg.norm(jax.grad(objective)(expected, None))) / damping
    assert bound < 1e-4
    np.testing.assert_allclose(theta, expected, rtol=0, atol=bound)
    assert result.records[-1]["certificate"] < 1e-9


def test_the_objective_never_rises():
    """Separable classes without damping: there is no minimiser, and the loss falls for ever."""
    data = classification(KEYS[1], n=10)
    _, result = records(data, Truncated(1e-3), loss=cross_entropy, schedule=Never(), num_steps=15)
    losses = [record["proxy_train_loss"] for record in result.records]
    assert all(after <= before for before, after in pairwise(losses))
    assert losses[-1] < 1e-3


def test_runs_go_together():
    runs = [
        Run(mlp(jax.random.key(seed)), {"train": classification(KEYS[1])}, Truncated(1e-2), 1e-2) for seed in (2, 3)
    ]
    settings = {"loss": cross_entropy, "schedule": OnConvergence(1e-2), "num_steps": 10}
    for run, together in zip(runs, train_many(runs, **settings), strict=True):
        alone = train(run.model, run.splits, solver=run.solver, damping=run.damping, **settings)
        ours, theirs = (ravel_pytree(result.state.params)[0] for result in (together, alone))
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
        assert together.report["cg_iterations"] == alone.report["cg_iterations"]


def test_float32_reaches_the_certificates_that_experiments_ask_for():
    model, data = mlp(KEYS[0]), classification(KEYS[1], n=30)
    model, data = jax.tree.map(
        lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, (model, data)
    )
    result = train(
        model,
        {"train": data},
        loss=cross_entropy,
        solver=Truncated(1e-3),
        schedule=OnConvergence(1e-3),
        num_steps=60,
        damping=1e-3,
        records_per_decade=1000,
    )
    assert result.records[-1]["feature_updates"] >= 3


@pytest.mark.parametrize("solver", [sgd(0.1), Ridge(), Truncated(1e-3)])
def test_the_certificate_is_the_gradient_of_the_lazy_problem(solver):
    """Whichever solver has come there."""
    data, damping = regression(KEYS[1]), 0.02
    theta, result = records(data, solver, schedule=Never(), num_steps=3, damping=damping)
    phi, theta0, unflatten, fn = dense_jacobian(mlp(KEYS[0]), data[0])
    residual = (fn(unflatten(theta0), data[0]) - data[1]).ravel()

    def gradient(change):
        return phi.T @ (residual + phi @ change) / 12 + 2 * damping * change

    expected = jnp.linalg.norm(gradient(theta - theta0)) / jnp.linalg.norm(gradient(0 * theta))
    assert result.records[-1]["certificate"] == pytest.approx(float(expected), rel=1e-6, abs=1e-13)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"batch_size": 4}, "truncated Gauss–Newton takes full batches: leave batch_size out"),
    ],
)
def test_impossible_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        records(regression(KEYS[1]), Truncated(0.1), key=KEYS[0], **settings)


@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1])
def test_an_impossible_tolerance(beta):
    with pytest.raises(ValueError, match="the tolerance β must lie between 0 and 1"):
        Truncated(beta)


def test_impossible_iterations():
    with pytest.raises(ValueError, match="max_iterations must be at least 1, got 0"):
        Truncated(0.1, max_iterations=0)
