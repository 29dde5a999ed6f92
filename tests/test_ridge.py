"""The exact Gauss–Newton step, against linear algebra, its limits, and other libraries."""

from itertools import pairwise, product

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import (
    ClosedForm,
    Every,
    Never,
    OnConvergence,
    Outcome,
    Ridge,
    Run,
    cross_entropy,
    sgd,
    squared_error,
    train,
    train_many,
)
from tests.problems import classification, dense_jacobian, mlp, one_step, regression, trained

KEYS = jax.random.key(0), jax.random.key(1)
# The system's condition number κ is ‖H‖/2λ ≤ 10⁴ with damping, and κ(φ)² ≈ 2·10⁶ without, so that rounding takes a step
# up to κε = 4·10⁻¹⁰ of its length away: a bound of 10⁻⁷ has room for the dimensions, one of 10⁻⁵ for κ^{3/2}ε too.
EPS = np.finfo(float).eps
SHAPES = {"wide": 12, "tall": 90, "one": 1}
FORMS = list(product(("kernel", "parameter"), ("cholesky", "eigh", "qr")))
# Each where it is the natural one, and one of each where it is not.
CASES = [(form, "wide" if form[0] == "kernel" else "tall") for form in FORMS]
CASES += [(("kernel", "cholesky"), "tall"), (("parameter", "cholesky"), "wide"), (("kernel", "qr"), "one")]
RANKED = [form for form in FORMS if form[1] != "cholesky"]


def dense(n=12, model=None, data=None):
    """φ, θ_0, the residual f_0 − y, the data."""
    data = data or regression(KEYS[1], n=n)
    jacobian, theta0, unflatten, fn = dense_jacobian(model or mlp(KEYS[0]), data[0])
    return np.asarray(jacobian), np.asarray(theta0), np.asarray(fn(unflatten(theta0), data[0]) - data[1]).ravel(), data


def step(solver, data, damping=0.0, model=None):
    """θ after one step."""
    return np.asarray(one_step(solver, model or mlp(KEYS[0]), data, damping=damping)[0])


def twice():
    """Each example twice, with other targets: φ has half its rank."""
    x, y = regression(KEYS[1], n=6)
    return jnp.concatenate([x, x]), jnp.concatenate([y, y + 1])


@pytest.mark.parametrize(("form", "shape"), CASES)
def test_the_damped_step_is_the_dense_solve(form, shape):
    phi, theta0, residual, data = dense(SHAPES[shape])
    n, p = len(data[0]), len(theta0)
    for damping in (1e-4, 0.3):
        expected = -np.linalg.solve(phi.T @ phi / n + 2 * damping * np.eye(p), phi.T @ residual / n)
        np.testing.assert_allclose(step(Ridge(1.0, *form), data, damping) - theta0, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("form", RANKED)
@pytest.mark.parametrize("data", [regression(KEYS[1]), twice()])
def test_without_damping_it_is_the_least_norm_solution(form, data):
    phi, theta0, residual, data = dense(data=data)
    expected = np.linalg.lstsq(phi, -residual, rcond=1e-10)[0]
    np.testing.assert_allclose(step(Ridge(1.0, *form), data) - theta0, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", FORMS[::5])
def test_little_damping_tends_to_the_least_norm_solution(form):
    phi, theta0, residual, data = dense()
    expected = np.linalg.lstsq(phi, -residual, rcond=None)[0]
    errors = [np.linalg.norm(step(Ridge(1.0, *form), data, 10.0**-k) - theta0 - expected) for k in (7, 8, 9)]
    assert all(0.05 < after / before < 0.2 for before, after in pairwise(errors))


@pytest.mark.parametrize("form", FORMS[::5])
def test_much_damping_is_a_small_gradient_step(form):
    """T §3.3: λ → ∞ is a step of gradient descent with η = 1/(2λ)."""
    phi, theta0, _, data = dense()
    damping = 1e6
    small = step(sgd(1 / (2 * damping)), data) - theta0
    # The next order in 1/λ is ‖H‖/2λ times the step, and θ_0 + step is rounded.
    bound = float(
        np.linalg.norm(phi, 2) ** 2 / 12 / (2 * damping) * np.linalg.norm(small) + EPS * np.linalg.norm(theta0)
    )
    np.testing.assert_allclose(step(Ridge(1.0, *form), data, damping) - theta0, small, rtol=0, atol=bound)


def test_the_papers_damping_is_2n_times_ours():
    """T eq. 10: (φᵀφ + λ_T I)s = −φᵀr."""
    phi, theta0, residual, data = dense(5)
    damping = 0.7
    expected = -np.linalg.solve(phi.T @ phi + damping * np.eye(len(theta0)), phi.T @ residual)
    np.testing.assert_allclose(step(Ridge(), data, damping / (2 * 5)) - theta0, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_a_long_phase_of_gradient_descent_ends_at_the_gauss_newton_step(damping):
    """T Lemma 3.2.1, with the pseudo-inverse."""
    _, _, _, data = dense(5)
    settings = {"solver": ClosedForm(0.05), "schedule": Never(), "num_steps": 10**9}
    long, _ = trained(mlp(KEYS[0]), data, damping=damping, **settings)
    np.testing.assert_allclose(step(Ridge(factorisation="qr"), data, damping), long, rtol=1e-7, atol=1e-7)


def test_the_step_size_takes_a_part_of_the_way():
    _, theta0, _, data = dense()
    whole, part = (step(Ridge(size), data, 0.01) - theta0 for size in (1.0, 0.3))
    np.testing.assert_allclose(part, 0.3 * whole, rtol=1e-10)


def test_it_goes_downhill():
    phi, theta0, residual, data = dense(90)
    for damping in (0.0, 1e-3, 1.0):
        assert (phi.T @ residual) @ (step(Ridge(factorisation="qr"), data, damping) - theta0) < 0


@pytest.mark.parametrize("damping", [1e-3, 0.3])
def test_a_damped_step_is_that_of_lineax(damping):
    """As the least-squares problem with [φ; √μ I]."""
    phi, theta0, residual, data = dense()
    ours = step(Ridge(), data, damping) - theta0
    mu = 2 * len(data[0]) * damping
    tall = lx.MatrixLinearOperator(jnp.concatenate([phi, np.sqrt(mu) * np.eye(len(theta0))]))
    padded = jnp.concatenate([-residual, np.zeros(len(theta0))])
    solved = lx.linear_solve(tall, padded, lx.AutoLinearSolver(well_posed=None)).value
    np.testing.assert_allclose(ours, solved, rtol=1e-7, atol=1e-10)


def test_local_convergence_is_quadratic_where_the_residual_vanishes():
    """T §3.2: on a small problem of full rank, with targets that the network can meet."""
    model, teacher = mlp(KEYS[0], inputs=2, out=1), mlp(KEYS[0], inputs=2, out=1)
    near = jax.tree.map(lambda leaf: leaf + 0.01 if eqx.is_inexact_array(leaf) else leaf, teacher)
    x = jax.random.normal(KEYS[1], (9, 2))
    result = train(
        model,
        {"train": (x, jax.vmap(near)(x))},
        loss=squared_error,
        solver=Ridge(factorisation="qr"),
        schedule=Every(1),
        num_steps=5,
        records_per_decade=1000,
    )
    errors = np.sqrt([record["network_train_loss"] for record in result.records])
    assert errors[0] > 1e-3
    assert errors[4] < 1e-12
    assert errors[2] < 10 * errors[1] ** 2 / errors[0]


def test_runs_with_other_seeds_and_other_damping_go_together():
    data = regression(KEYS[1])
    runs = [
        Run(mlp(jax.random.key(seed)), {"train": data}, Ridge(), damping) for seed in (2, 3) for damping in (1e-3, 1.0)
    ]
    settings = {"loss": squared_error, "schedule": Every(1), "num_steps": 4}
    for run, together in zip(runs, train_many(runs, **settings), strict=True):
        alone = train(run.model, run.splits, solver=run.solver, damping=run.damping, **settings)
        theirs, ours = (ravel_pytree(result.state.params)[0] for result in (alone, together))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("form", "bound"), list(zip(FORMS[:3], (3e-3, 3e-3, 3e-4), strict=True)))
def test_float32_stays_within_bounds(form, bound):
    """At λ = 10⁻³; that of `qr` is the smallest."""
    _, theta0, _, data = dense()
    exact = step(Ridge(factorisation="qr"), data, 1e-3) - theta0
    model, data32 = jax.tree.map(
        lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, (mlp(KEYS[0]), data)
    )
    found = step(Ridge(1.0, *form), data32, 1e-3, model) - theta0
    assert found.dtype == np.float64
    assert np.linalg.norm(found - exact) < bound * np.linalg.norm(exact)


def test_only_qr_keeps_the_digits_of_an_ill_conditioned_problem():
    """Two examples that nearly coincide: σ_max/σ_min ≈ 10⁶, whose square is more than float32 resolves."""
    x, y = regression(KEYS[1], n=2)
    data = jnp.stack([x[0], x[0] + 1e-6]), jnp.stack([y[0], y[0] + 1e-6])
    phi, theta0, residual, _ = dense(data=data)
    expected = np.linalg.lstsq(phi, -residual, rcond=None)[0]
    errors = {
        name: np.linalg.norm(step(Ridge(factorisation=name), data) - theta0 - expected) / np.linalg.norm(expected)
        for name in ("qr", "eigh")
    }
    assert errors["qr"] < 1e-6
    assert errors["qr"] < 1e-2 * errors["eigh"]


def test_a_solved_phase_has_its_certificate():
    result = train(
        mlp(KEYS[0]),
        {"train": regression(KEYS[1])},
        loss=squared_error,
        solver=Ridge(),
        schedule=OnConvergence(1e-8),
        damping=0.01,
        num_steps=3,
        records_per_decade=1000,
    )
    assert [record["feature_updates"] for record in result.records] == [0, 0, 1, 2]
    assert all(record["certificate"] < 1e-10 for record in result.records[1:])


def test_a_system_that_breaks_down_is_a_run_that_diverged():
    """λ far below what Cholesky's factorisation resolves for two examples that coincide."""
    data = twice()
    result = train(
        mlp(KEYS[0]), {"train": data}, loss=squared_error, solver=Ridge(), schedule=Every(1), damping=1e-30, num_steps=9
    )
    assert result.outcome is Outcome.diverged


@pytest.mark.parametrize(
    ("solver", "settings", "words"),
    [
        (Ridge(), {"loss": cross_entropy, "damping": 1.0}, "the ridge solver is for squared_error: use `truncated`"),
        (Ridge(), {"damping": 1.0, "batch_size": 4}, "the ridge solver takes full batches: leave batch_size out"),
        (Ridge(), {}, "without damping the system is singular: use the factorisation 'qr' or 'eigh'"),
        (Ridge(), {"damping": -1.0}, "the damping λ must be at least 0 and finite, got -1.0"),
        (
            Ridge(factorisation="qr", max_bytes=1000),
            {},
            r"for n·out = 24 outputs and p = 100 parameters takes 7.7e\+04 bytes, more than max_bytes = 1e\+03: raise "
            "max_bytes, or use `truncated`, which stores no matrix",
        ),
    ],
)
def test_impossible_arguments(solver, settings, words):
    loss = settings.get("loss", squared_error)
    data = regression(KEYS[1]) if loss is squared_error else classification(KEYS[1])
    defaults = {"loss": loss, "schedule": Every(1), "num_steps": 1, "key": KEYS[0]}
    with pytest.raises(ValueError, match=words):
        train(mlp(KEYS[0]), {"train": data}, solver=solver, **(defaults | settings))


@pytest.mark.parametrize("size", [0.0, 1.5])
def test_an_impossible_step_size(size):
    with pytest.raises(ValueError, match=rf"the step size α must lie in \(0, 1\], got {size}"):
        Ridge(size)
