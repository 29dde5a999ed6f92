"""How a run ends, and what no run starts with."""

import jax
import jax.numpy as jnp
import pytest

from iterlin import (
    Every,
    Never,
    OnConvergence,
    Outcome,
    Truncated,
    cross_entropy,
    functional,
    ggn_max_eigenvalue,
    sgd,
    squared_error,
)
from tests.problems import classification, mlp, regression, trained


def test_too_large_a_learning_rate_is_an_outcome_and_not_an_error():
    model, (x, y) = mlp(jax.random.key(0)), regression(jax.random.key(1))
    params, fn = functional(model)
    rate = 3 / ggn_max_eigenvalue(fn, params, x, y, squared_error, jax.random.key(2))
    _, stable = trained(model, (x, y), solver=sgd(rate / 3), schedule=Never(), num_steps=2000)
    _, result = trained(model, (x, y), solver=sgd(rate), schedule=Never(), num_steps=2000)
    assert stable.outcome is Outcome.step_limit
    assert result.outcome is Outcome.diverged
    assert result.records[-1]["step"] < 200
    assert "lower the learning rate" in result.outcome.value


@pytest.mark.parametrize("value", [jnp.nan, jnp.inf])
def test_data_that_are_not_finite_are_refused(value):
    model, (x, y) = mlp(jax.random.key(0)), regression(jax.random.key(1))
    with pytest.raises(ValueError, match="split 'train': x is not finite at example 3"):
        trained(model, (x.at[3, 0].set(value), y))
    with pytest.raises(ValueError, match="split 'train': y is not finite at example 0"):
        trained(model, (x, y.at[0].set(value)))


@pytest.mark.parametrize("schedule", [Every(1), Every(20), Every(50)])
def test_training_stops_at_the_first_record_at_which_the_network_fits_also_within_a_phase(schedule):
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    _, result = trained(
        model, data, loss=cross_entropy, solver=sgd(0.5), schedule=schedule, num_steps=100_000, fit_loss=0.1
    )
    assert result.outcome is Outcome.fitted
    assert [fits(record, 0.1) for record in result.records] == [False] * (len(result.records) - 1) + [True]
    assert (schedule.period < 50) or 0 < result.records[-1]["phase_step"] < 50


def test_a_solved_phase_that_fits_ends_training_although_its_last_step_was_recorded_before_that_was_known():
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    settings = {"loss": cross_entropy, "solver": Truncated(0.05), "schedule": OnConvergence(0.05), "damping": 0.01}
    _, result = trained(model, data, **settings, num_steps=100, fit_loss=0.2, records_per_decade=1000)
    assert result.outcome is Outcome.fitted
    assert [record["step"] for record in result.records] == list(range(len(result.records)))
    assert [fits(record, 0.2) for record in result.records] == [False] * (len(result.records) - 1) + [True]


def fits(record, loss):
    return record["network_train_accuracy"] == 1 and record["network_train_loss"] <= loss


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_steps": 0}, "num_steps must be at least 1, got 0"),
        ({"damping": -0.1}, "the damping λ must be at least 0 and finite, got -0.1"),
        ({"batch_size": 3}, "mini-batches are drawn at random: give a `key`"),
        ({"batch_size": 13, "key": jax.random.key(0)}, "batch_size must lie between 1 and the 12 examples, got 13"),
    ],
)
def test_impossible_arguments(settings, message):
    with pytest.raises(ValueError, match=message):
        trained(mlp(jax.random.key(0)), regression(jax.random.key(1)), **settings)


def test_impossible_schedules():
    with pytest.raises(ValueError, match="the period K must be at least 1, got 0"):
        Every(0)
    with pytest.raises(ValueError, match="the tolerance τ must lie between 0 and 1, got 1"):
        OnConvergence(1.0)
