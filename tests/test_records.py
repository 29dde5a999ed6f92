"""What is recorded during training, and when."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest

from iterlin import Every, Linearised, cross_entropy, functional, sgd, train
from iterlin._records import log_spaced_steps
from tests.problems import classification, mlp, same, trained


def test_records_hold_the_network_and_its_proxy():
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    _, result = trained(model, data, loss=cross_entropy, schedule=Every(10), num_steps=40)
    by_step = {record["step"]: record for record in result.records}
    assert by_step[0]["network_train_loss"] == by_step[0]["proxy_train_loss"]
    assert by_step[0]["linearisation_error"] == by_step[0]["distance_init"] == 0
    assert [by_step[step]["feature_updates"] for step in (10, 20, 30, 40)] == [0, 1, 2, 3]
    end = by_step[40]
    params, fn = functional(model)
    f = fn(result.state.params, data[0])
    f_lin = Linearised(fn, result.state.params0)(result.state.params, data[0])
    same(end["network_train_loss"], cross_entropy(f, data[1]))
    same(end["proxy_train_loss"], cross_entropy(f_lin, data[1]))
    same(end["linearisation_error"], jnp.sqrt(jnp.mean((f - f_lin) ** 2)))
    distance = optax.tree.norm(optax.tree.sub(result.state.params, params))
    same(end["distance_init"], distance)
    assert end["distance_phase"] < end["distance_init"]


def test_every_split_is_measured_and_only_the_first_is_trained_on():
    model, data, other = mlp(jax.random.key(0)), classification(jax.random.key(1)), classification(jax.random.key(2))
    settings = {"loss": cross_entropy, "solver": sgd(0.1), "schedule": Every(2), "num_steps": 10}
    results = [train(model, splits, **settings) for splits in ({"train": data}, {"train": data, "test": other})]
    assert eqx.tree_equal(*(result.state for result in results))
    alone, both = (result.records[-1] for result in results)
    assert {name: both[name] for name in alone} == pytest.approx(alone, rel=1e-10)
    assert set(both) - set(alone) == {f"{m}_test_{q}" for m in ("network", "proxy") for q in ("loss", "accuracy")}


def test_log_spaced_steps():
    steps = log_spaced_steps(1000, 3)
    assert steps == [0, 1, 2, 5, 10, 22, 46, 100, 215, 464, 1000]
    assert log_spaced_steps(0, 3) == [0]
    assert log_spaced_steps(1, 3) == [0, 1]
