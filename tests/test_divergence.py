"""A run that diverged says where, and for the right reason."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import (
    ClosedForm,
    Every,
    Flow,
    Never,
    OnConvergence,
    Outcome,
    Run,
    adam,
    cross_entropy,
    functional,
    ggn_max_eigenvalue,
    sgd,
    squared_error,
    train,
    train_many,
)
from tests.problems import affine, classification, dense_jacobian, mlp, regression

sharpness = eqx.filter_jit(ggn_max_eigenvalue)
KEYS = jax.random.key(0), jax.random.key(1)


def trained(solver, schedule, model=None, data=None, *, at_once=False, key=None, damping=0.0, **settings):
    """The result of a run, trained alone or twice at once."""
    run = Run(model or mlp(KEYS[0]), {"train": data or regression(KEYS[1])}, solver, damping, key)
    settings = {"loss": squared_error, "schedule": schedule, "num_steps": 400} | settings
    if at_once:
        return train_many([run, run], **settings)[0]
    return train(run.model, run.splits, solver=solver, damping=damping, key=key, **settings)


def diverged(*arguments, **settings):
    """What is said of a run that must diverge."""
    result = trained(*arguments, **settings)
    assert result.outcome is Outcome.diverged
    assert result.divergence is not None
    return result.divergence


def convex(damping=0.0):
    """An affine model and its data, and the exact λ_max of their lazy problem."""
    model, (x, y) = affine(KEYS[0]), regression(KEYS[1], inputs=2, out=3)
    jacobian, *_ = dense_jacobian(model, x)
    return {"model": model, "data": (x, y)}, float(np.linalg.norm(jacobian, 2) ** 2 / len(x) + 2 * damping)


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("schedule", [Never(), Every(40)])
@pytest.mark.parametrize("solver", [sgd, ClosedForm])
def test_steps_above_the_bound_are_called_unstable_and_those_below_are_not(solver, schedule, damping):
    problem, sharpest = convex(damping)
    found = diverged(solver(2.05 / sharpest), schedule, **problem, damping=damping)
    assert found.eta_lambda_max == pytest.approx(2.05, rel=0.02)
    assert found.cause.startswith("ηλ_max = 2.0")
    assert "explicit steps on this lazy problem are unstable; lower the learning rate below" in found.cause
    assert float(found.cause.split()[-1]) == pytest.approx(2 / sharpest, rel=0.02)
    stable = trained(solver(1.95 / sharpest), schedule, **problem, damping=damping)
    assert (stable.outcome, stable.divergence) == (Outcome.step_limit, None)


def test_period_1_has_no_phase_that_could_be_shorter():
    problem, sharpest = convex()
    found = diverged(sgd(2.05 / sharpest), Every(1), **problem)
    assert found.eta_lambda_max == pytest.approx(2.05, rel=0.02)
    assert "at the initialisation is above 2" in found.cause
    assert trained(sgd(1.95 / sharpest), Every(1), **problem).divergence is None


def test_where_it_ended_is_where_the_records_say():
    problem, sharpest = convex()
    result = trained(sgd(2.5 / sharpest), Every(7), **problem)
    found, last = result.divergence, result.records[-1]
    assert found is not None
    assert (found.step, found.phase_step) == (last["step"], last["phase_step"])
    assert found.last_finite_step == found.step > 0


def test_with_no_bound_but_that_of_the_numbers_earlier_losses_are_the_last_finite_ones():
    problem, sharpest = convex()
    result = trained(sgd(1e3 / sharpest), Never(), **problem, divergence_factor=math.inf)
    finite = [record["step"] for record in result.records if math.isfinite(record["network_train_loss"])]
    assert result.divergence is not None
    assert result.divergence.last_finite_step == finite[-1] < result.divergence.step


@pytest.mark.parametrize("at_once", [False, True])
def test_alone_or_at_once_the_cause_is_the_same(at_once):
    problem, sharpest = convex()
    found = diverged(sgd(3 / sharpest), Every(50), **problem, at_once=at_once)
    assert found == diverged(sgd(3 / sharpest), Every(50), **problem)


def test_of_cross_entropy_the_phase_is_measured_where_it_began_too():
    """Where it ended the losses are flat, and ηλ_max there is small."""
    model, (x, y) = mlp(KEYS[0]), classification(KEYS[1])
    params, fn = functional(model)
    sharpest = sharpness(fn, params, x, y, cross_entropy, KEYS[0])
    settings = {"loss": cross_entropy, "hoist": False, "divergence_factor": 5.0}
    found = diverged(sgd(300 / sharpest), Never(), model, (x, y), **settings)
    assert (found.eta_lambda_max or 0) >= 0.98 * 300
    assert "are unstable" in found.cause


def test_of_mini_batches_it_is_the_batch_that_failed():
    problem, sharpest = convex()
    found = diverged(sgd(5 / sharpest), Never(), **problem, batch_size=2, key=KEYS[0])
    order = jax.random.permutation(jax.random.fold_in(KEYS[0], found.step // 6), 12)
    x = problem["data"][0][order[2 * (found.step % 6) :][:2]]
    jacobian, *_ = dense_jacobian(problem["model"], x)
    eigenvalue = float(np.linalg.norm(jacobian, 2) ** 2 / 2)
    assert found.eta_lambda_max == pytest.approx(5 * eigenvalue / sharpest, rel=0.02)


@pytest.mark.parametrize(("solver", "at_once"), [(sgd, False), (Flow, True)])
def test_phases_that_are_too_long(solver, at_once):
    """The steps are stable; it is the network that is elsewhere once the lazy problem is solved."""
    model, (x, y) = mlp(KEYS[0]), regression(KEYS[1])
    params, fn = functional(model)
    rate = 1 / sharpness(fn, params, x, 100 * y, squared_error, KEYS[0])
    settings = {"num_steps": 4000, "divergence_factor": 5.0, "at_once": at_once, "records_per_decade": 2}
    found = diverged(solver(rate), Every(2000), model, (x, 100 * y), **settings)
    assert found.phase_step == 0 < found.step
    assert found.eta_lambda_max == pytest.approx(1, rel=0.05)
    assert found.cause == (
        "the phase of 2000 steps was too long: the network left its linearisation; shorten the phases (smaller K), or "
        "raise the damping"
    )
    assert trained(solver(rate), Never(), model, (x, 100 * y), **settings).divergence is None


@jax.numpy_dtype_promotion("standard")  # optax's Adam needs it
@pytest.mark.parametrize(
    ("solver", "at_once"),
    [(adam(1e4), True), (sgd(3.0, momentum=0.9), False)],
)
def test_other_solvers_are_told_their_rate_is_too_large(solver, at_once):
    problem, _ = convex()
    found = diverged(solver, OnConvergence(1e-6), **problem, at_once=at_once)
    assert found.phase_step == found.step > 0
    assert found.eta_lambda_max is None
    assert found.cause == "the loss is above its bound or not finite at this learning rate: lower it"


def broken_parameters(model, x, y):
    return jax.tree.map(lambda leaf: leaf * jnp.nan if hasattr(leaf, "shape") else leaf, model), (x, y)


def enormous(model, x, y):
    return model, (x, 1e200 * y)


@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        (broken_parameters, "not all parameters are finite: mend the initialisation"),
        (enormous, "the first loss or its gradient is not finite: make the data or the initialisation smaller"),
    ],
)
@pytest.mark.parametrize(("solver", "at_once"), [(sgd(0.05), True), (ClosedForm(0.05), False)])
def test_what_is_not_finite_from_the_beginning(solver, at_once, broken, cause):
    model, data = broken(mlp(KEYS[0]), *regression(KEYS[1]))
    found = diverged(solver, Every(10), model, data, at_once=at_once)
    assert (found.step, found.phase_step, found.last_finite_step) == (0, 0, None)
    assert found.cause.startswith(cause)
