"""What users bring: a loss, solvers, a schedule, records, a stop and a loop of their own, by public names alone."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import iterlin
from tests.problems import classification, mlp, regression

KEYS = jax.random.key(0), jax.random.key(1)


def train(model=None, data=None, **settings):
    defaults = {"loss": iterlin.squared_error, "solver": iterlin.sgd(0.05), "schedule": 5, "num_steps": 30}
    return iterlin.train(model or mlp(KEYS[0]), {"train": data or regression(KEYS[1])}, **(defaults | settings))


def flat(result):
    return ravel_pytree(result.state.params)[0]


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)  # float64, some dozens of steps of order 1


def test_all_public_names_are_there_and_no_other():
    assert set(iterlin.__all__) <= set(dir(iterlin))
    assert iterlin.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        iterlin.nonsense  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


# A loss.


def wrapped(outputs, targets):
    return iterlin.squared_error(outputs, targets)


def huber(outputs, targets):
    return optax.huber_loss(outputs, targets).sum(axis=-1).mean()


def ordinal(outputs, levels):
    """Integer targets of another meaning than classes: the signs of several thresholds."""
    return jnp.mean(jax.nn.softplus(-outputs * levels.astype(outputs.dtype)))


@pytest.mark.parametrize(
    "solver", [iterlin.ClosedForm(0.05), iterlin.Ridge(factorisation="qr"), iterlin.Truncated(0.1)]
)
def test_a_wrapped_squared_error_is_squared_error_to_every_solver(solver):
    close(flat(train(loss=wrapped, solver=solver)), flat(train(solver=solver)))


def test_another_loss_trains_and_is_refused_where_squared_error_is_needed():
    assert train(loss=huber, num_steps=200).records[-1]["network_train_loss"] < train().records[0]["network_train_loss"]
    with pytest.raises(ValueError, match="the closed form exists for squared_error"):
        train(loss=huber, solver=iterlin.ClosedForm(0.1))


def test_integer_targets_of_another_loss_are_its_own_affair():
    x, _ = regression(KEYS[1])
    levels = jnp.sign(jax.random.normal(KEYS[0], (12, 2))).astype(int)
    records = train(data=(x, levels), loss=ordinal, num_steps=200).records
    assert records[-1]["network_train_loss"] < records[0]["network_train_loss"]
    assert "network_train_accuracy" not in records[0]


# A schedule.


class OnError(iterlin.Schedule):
    """Re-linearise once ‖f − f_lin‖ > ε‖f − f_s‖, and count the steps that were looked at."""

    looks: ClassVar[bool] = True  # pyright: ignore[reportIncompatibleMethodOverride]
    epsilon: float

    def init(self):
        return jnp.zeros((), jnp.int32)

    def look(self, lazy, params):
        return lazy.linearisation_error(params)

    def update(self, state, seen):
        return seen.looked > self.epsilon, state + 1


def errors_of(result, data):
    """‖f − f_lin‖ / ‖f − f_s‖ along a run, at its records within the first phase."""
    params0, fn = iterlin.functional(mlp(KEYS[0]))
    linearised = iterlin.Linearised(fn, params0)

    def error(moment):
        f, f_s, f_lin = fn(moment.params, data[0]), fn(params0, data[0]), linearised(moment.params, data[0])
        return {"error": float(jnp.linalg.norm(f - f_lin) / jnp.linalg.norm(f - f_s)) if moment.step else 0.0}

    return error


def test_a_schedule_that_looks_at_the_linearisation_error():
    data = regression(KEYS[1])
    error = iterlin.RecordAt(range(400), errors_of(None, data))
    lazy = train(data=data, schedule=iterlin.Never(), num_steps=300, record_at=[error])
    found = {int(record["step"]): record["error"] for record in lazy.records}
    first = min(step for step, value in found.items() if value > 0.05)
    assert first > 3
    result = train(data=data, schedule=OnError(0.05), num_steps=first + 1, records_per_decade=1000)
    assert result.state.feature_updates == 1
    assert result.state.phase_step == 1
    assert result.state.schedule_state == first + 2  # each step, and the first of the new phase once more
    assert train(data=data, schedule=OnError(0.05), num_steps=first).state.feature_updates == 0


def test_several_periods_in_one_program():
    data = {"train": regression(KEYS[1])}
    runs = [iterlin.Run(mlp(KEYS[0]), data, iterlin.sgd(0.05), schedule=K) for K in (1, 3, 10, float("inf"))]
    results = iterlin.train_many(runs, loss=iterlin.squared_error, schedule=1, num_steps=30)
    for result, run in zip(results, runs, strict=True):
        close(flat(result), flat(train(schedule=run.schedule)))
    assert [result.state.feature_updates.item() for result in results] == [29, 9, 2, 0]


# Records and a stop.


def test_a_record_of_one_s_own_at_steps_of_one_s_own():
    seen = []

    def length(moment):
        seen.append(moment.step)
        return {"length": optax.tree.norm(moment.params)}

    result = train(schedule=1, record_at=[iterlin.RecordAt([0, 7, 20], length)], records_per_decade=1)
    assert seen == [0, 7, 20]
    assert {int(record["step"]) for record in result.records if "length" in record} == {0, 7, 20}
    with pytest.raises(ValueError, match="record_at: a record has a 'step' already: give it another name"):
        train(record_at=[iterlin.RecordAt([3], lambda moment: {"step": 1.0})])


def test_a_stop_of_one_s_own():
    result = train(
        schedule=1, num_steps=1000, records_per_decade=100, until=lambda record: record["distance_init"] > 0.1
    )
    assert result.outcome is iterlin.Outcome.stopped
    before, last = (record["distance_init"] for record in result.records[-2:])
    assert before <= 0.1 < last
    assert result.state.step < 1000


# A loop.


def test_a_loop_of_one_s_own_is_that_of_train_also_batched():
    x, y = classification(KEYS[1])
    params, fn = iterlin.functional(mlp(KEYS[0]))
    loop = iterlin.Loop(fn, iterlin.cross_entropy, iterlin.sgd(0.1, momentum=0.9), damping=0.01)

    @jax.jit
    def after(scale):
        state = loop.init(optax.tree.scale(scale, params))
        for _ in range(2):
            state = loop.relinearise(jax.lax.fori_loop(0, 4, lambda _, s: loop.step(s, x, y), state))
        return ravel_pytree(loop.step(state, x, y).params)[0]

    settings = {"loss": iterlin.cross_entropy, "solver": iterlin.sgd(0.1, momentum=0.9), "damping": 0.01}
    trained = train(data=(x, y), schedule=4, num_steps=9, **settings)
    close(after(1.0), flat(trained))
    close(jax.vmap(after)(jnp.array([1.0, 0.5]))[0], flat(trained))


def test_a_loop_sees_the_lazy_problem():
    x, y = regression(KEYS[1])
    params, fn = iterlin.functional(mlp(KEYS[0]))
    loop = iterlin.Loop(fn, iterlin.squared_error, iterlin.sgd(0.05))
    state = loop.init(params)
    assert loop.lazy(state, x, y).linearisation_error(state.params) == 0
    state = loop.step(loop.step(state, x, y), x, y)
    assert 0 < loop.lazy(state, x, y).linearisation_error(state.params) < 0.5
    assert loop.lazy(state, x, y).value(state.params) < loop.lazy(state, x, y).value(params)
