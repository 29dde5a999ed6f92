"""Phases with squared error in closed form, against explicit steps and linear algebra."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from jax.flatten_util import ravel_pytree

from iterlin import (
    ClosedForm,
    Every,
    OnConvergence,
    Outcome,
    cross_entropy,
    sgd,
)
from tests.phases import EPS, KEYS, RATE, dense, growth, initial_norm, rounding, steepest, time_of, trained
from tests.problems import affine, classification, mlp, regression

SHAPES = {"wide": {"n": 12}, "tall": {"n": 90}, "one": {"n": 1}}
COUNTS = ("step", "phase_step", "last_phase", "feature_updates", "due", "diverged")


@pytest.mark.parametrize("num_steps", [1, 10, 1000, 100_000])
@pytest.mark.parametrize("damping", [0.0, 0.03])
def test_a_phase_is_that_of_explicit_steps(num_steps, damping):
    explicit, result = trained(sgd(RATE), num_steps=num_steps, damping=damping)
    theta, jumped = trained(ClosedForm(RATE), num_steps=num_steps, damping=damping)
    np.testing.assert_allclose(theta, explicit, rtol=0, atol=rounding(time_of(num_steps, damping)))
    slopes, off = steepest(damping, num_steps=num_steps), rounding(time_of(num_steps, damping))
    for ours, theirs in zip(jumped.records, result.records, strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours.keys() - {"evaluations"}:
            # What a number makes of the error of θ, and some ten roundings of its own.
            bound = slopes[name] * off + 10 * EPS if name in slopes else 0
            np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=bound, err_msg=name)


@pytest.mark.parametrize("shape", SHAPES)
def test_wide_tall_and_single_problems(shape):
    data = regression(KEYS[1], **SHAPES[shape])
    explicit, _ = trained(sgd(RATE), data=data, num_steps=3000)
    theta, _ = trained(ClosedForm(RATE), data=data, num_steps=3000)
    np.testing.assert_allclose(theta, explicit, rtol=0, atol=rounding(time_of(3000), data=data))


def test_a_rank_deficient_problem_keeps_what_no_parameter_moves():
    """Each example twice, with other targets: half the eigenvalues are zero, and their residuals stay."""
    x, y = regression(KEYS[1], n=6)
    data = jnp.concatenate([x, x]), jnp.concatenate([y, y + 1])
    explicit, result = trained(sgd(RATE), data=data, num_steps=20_000)
    theta, jumped = trained(ClosedForm(RATE), data=data, num_steps=20_000)
    np.testing.assert_allclose(theta, explicit, rtol=0, atol=rounding(time_of(20_000), data=data))
    np.testing.assert_allclose(jumped.records[-1]["proxy_train_loss"], result.records[-1]["proxy_train_loss"])
    far, _ = trained(ClosedForm(RATE), data=data, num_steps=2_000_000_000)
    assert np.linalg.norm(far) < 100


@pytest.mark.parametrize(
    ("period", "num_steps", "damping"), [(1, 7, 0.0), (2, 9, 0.1), (20, 100, 0.0), (300, 1000, 0.01)]
)
def test_phases_follow_each_other_as_explicit_ones_do(period, num_steps, damping):
    settings = {"schedule": Every(period), "num_steps": num_steps, "damping": damping}
    explicit, result = trained(sgd(RATE), **settings)
    theta, jumped = trained(ClosedForm(RATE), **settings)
    # Each phase adds its rounding, which those after it make larger.
    off = np.ceil(num_steps / period) * rounding(time_of(period, damping))
    np.testing.assert_allclose(theta, explicit, rtol=0, atol=growth(sgd(RATE), **settings) * off)
    for count in COUNTS:
        assert getattr(jumped.state, count) == getattr(result.state, count), count
    bound = growth(sgd(RATE), initial_norm, **settings) * off + 10 * EPS
    np.testing.assert_allclose(initial_norm(jumped), initial_norm(result), rtol=0, atol=bound)
    for name in ("step", "phase_step", "feature_updates"):
        assert [record[name] for record in jumped.records] == [record[name] for record in result.records]


def test_all_periods_are_one_trajectory_for_a_model_linear_in_its_parameters():
    model, data = affine(KEYS[0]), regression(KEYS[1], inputs=2, out=3)
    reference, _ = trained(ClosedForm(RATE), model, data, num_steps=60)
    theta, _ = trained(ClosedForm(RATE), model, data, num_steps=60, schedule=Every(7))
    np.testing.assert_allclose(theta, reference, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.03])
@pytest.mark.parametrize("n", [12, 90])
def test_continuous_time_is_the_matrix_exponential(damping, n):
    """θ − θ_0 = −∫₀ᵀ e^{−Hu} du φᵀr/n, H = φᵀφ/n + 2λ, by the exponential of an augmented matrix."""
    jacobian, theta0, residual, data = dense(n)
    hessian = jacobian.T @ jacobian / n + 2 * damping * np.eye(len(theta0))
    generator = np.zeros((len(theta0) + 1,) * 2)
    generator[:-1, :-1], generator[:-1, -1] = -hessian, -jacobian.T @ residual / n
    moved = scipy.linalg.expm(RATE * 700 * generator)[:-1, -1]
    theta, _ = trained(ClosedForm(RATE, continuous=True), data=data, num_steps=700, damping=damping)
    np.testing.assert_allclose(theta - theta0, moved, rtol=0, atol=rounding(time_of(700, damping), n))


def test_discrete_time_tends_to_continuous_time_at_first_order():
    flow, _ = trained(ClosedForm(0.1, continuous=True), num_steps=20)
    errors = []
    for refinement in (10, 100, 1000):
        theta, _ = trained(ClosedForm(0.1 / refinement), num_steps=20 * refinement)
        errors.append(np.linalg.norm(theta - flow))
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 10, rtol=0.1)


def test_a_long_phase_is_least_norm_least_squares():
    jacobian, theta0, residual, data = dense(4)
    expected, slowest = theta0 - np.linalg.pinv(jacobian) @ residual, np.linalg.norm(jacobian, -2) ** 2 / 4
    for solver in (ClosedForm(RATE), ClosedForm(RATE, continuous=True)):
        theta, _ = trained(solver, data=data, num_steps=2_000_000_000)
        np.testing.assert_allclose(theta, expected, rtol=0, atol=rounding(1 / slowest, 4))


@pytest.mark.parametrize("n", [12, 90])
def test_a_long_damped_phase_is_ridge_regression(n):
    """T eq. 10 with λ_T = 2nλ."""
    jacobian, theta0, residual, data = dense(n)
    theta, _ = trained(ClosedForm(RATE), data=data, num_steps=1_000_000, damping=0.1)
    system = jacobian.T @ jacobian + 2 * n * 0.1 * np.eye(len(theta0))
    expected = theta0 - np.linalg.solve(system, jacobian.T @ residual)
    np.testing.assert_allclose(theta, expected, rtol=0, atol=rounding(time_of(1_000_000, 0.1), n))


@pytest.mark.parametrize("stability", [2.02, 3.0, 50.0])
@pytest.mark.parametrize("settings", [{}, {"schedule": Every(40)}, {"damping": 0.05}])
def test_unstable_steps_diverge_where_explicit_ones_do(stability, settings):
    jacobian, *_, data = dense()
    rate = stability / (np.linalg.norm(jacobian, 2) ** 2 / 12 + 2 * settings.get("damping", 0))
    explicit, result = trained(sgd(rate), data=data, num_steps=2000, **settings)
    theta, jumped = trained(ClosedForm(rate), data=data, num_steps=2000, **settings)
    assert jumped.outcome is result.outcome is Outcome.diverged
    for count in COUNTS:
        assert getattr(jumped.state, count) == getattr(result.state, count), count
    steps = int(result.state.step)
    made_of_it = growth(sgd(rate), data=data, num_steps=2000, **settings)
    np.testing.assert_allclose(theta, explicit, rtol=0, atol=made_of_it * rounding(rate * steps, data=data, rate=rate))
    if not settings:
        _, flow = trained(ClosedForm(rate, continuous=True), data=data, num_steps=2000)
        assert flow.outcome is Outcome.step_limit


def test_overflow_far_beyond_the_bound_is_divergence():
    _, result = trained(ClosedForm(1e3), num_steps=2_000_000_000, records_per_decade=1)
    assert result.outcome is Outcome.diverged


def test_a_network_that_is_not_finite_is_divergence_at_step_0():
    model = jax.tree.map(lambda leaf: leaf * jnp.nan if eqx.is_array(leaf) else leaf, mlp(KEYS[0]))
    _, result = trained(ClosedForm(RATE), model)
    assert result.outcome is Outcome.diverged
    assert result.records[-1]["step"] == 0


def test_a_fitted_network_stays():
    model, (x, _) = mlp(KEYS[0]), regression(KEYS[1])
    y = jax.vmap(model)(x)
    theta, result = trained(ClosedForm(RATE), model, (x, y), num_steps=10**9)
    assert result.outcome is Outcome.step_limit
    # The residual is the rounding of f, which φ⁺ amplifies by 1/σ_min.
    bound = EPS * np.linalg.norm(y) / np.linalg.norm(dense()[0], -2)
    np.testing.assert_allclose(theta, ravel_pytree(eqx.filter(model, eqx.is_inexact_array))[0], rtol=0, atol=bound)


def test_the_report_says_how_well_the_phase_was_solved():
    jacobian, *_, data = dense()
    solver = ClosedForm(RATE)
    assert solver.report(solver.init(None)) == {}
    _, result = trained(solver, data=data, num_steps=1000, damping=0.01, records_per_decade=1)
    report = solver.report(result.state.solver_state)
    assert [record["evaluations"] for record in result.records] == [0, 1, 2, 3, 4]
    assert 0 < report["error_estimate"] < 1e-12
    largest = np.linalg.norm(jacobian, 2) ** 2 / 12 + 0.02
    np.testing.assert_allclose(report["eta_lambda_max"], RATE * largest, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": cross_entropy, "data": classification(KEYS[1])}, "the closed form exists for squared_error: use"),
        ({"schedule": OnConvergence(0.1)}, "the closed form jumps to the end of a phase, so it must be known: use Ev"),
        ({"batch_size": 3, "key": KEYS[0]}, "the closed form takes full batches: leave batch_size out"),
        (
            {"solver": ClosedForm(0.1, max_bytes=10_000)},
            r"the closed form for n·out = 24 takes 3.7e\+04 bytes, more than max_bytes = 1e\+04: raise max_bytes, or "
            "use the flow solver, which stores no kernel",
        ),
    ],
)
def test_misuse_is_refused_before_anything_is_computed(settings, message):
    records = []
    with pytest.raises(ValueError, match=message):
        trained(**({"solver": ClosedForm(0.1), "on_record": records.append} | settings))
    assert records == []


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_learning_rates(rate):
    with pytest.raises(ValueError, match=f"the learning rate η must be positive and finite, got {rate}"):
        ClosedForm(rate)


def test_more_steps_than_32_bits_count():
    """A phase of 2³³ steps, and one of 2⁴⁰, each in one jump: the solution of the damped problem."""
    period, damping = 2**33, 1e-3
    theta, result = trained(ClosedForm(RATE), schedule=period, num_steps=3 * period, damping=damping)
    explicit, _ = trained(ClosedForm(RATE), schedule=10**6, num_steps=3 * 10**6, damping=damping)
    assert {0, period, 2 * period, 3 * period} <= {record["step"] for record in result.records}
    assert result.state.feature_updates == 2
    np.testing.assert_allclose(theta, explicit, rtol=0, atol=3 * rounding(time_of(period, damping)))
    _, result = trained(ClosedForm(RATE), num_steps=2**40)
    assert result.records[-1]["step"] == 2**40
