"""What users bring: a loss, solvers, a schedule, records, a stop and a loop of their own, by public names alone."""

import subprocess
import sys
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import iterlin
from tests.clone import ROOT, environment
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
    with pytest.raises(ValueError, match="the closed form is that of squared_error"):
        train(loss=huber, solver=iterlin.ClosedForm(0.1))


def test_integer_targets_of_another_loss_are_its_own_affair():
    x, _ = regression(KEYS[1])
    levels = jnp.sign(jax.random.normal(KEYS[0], (12, 2))).astype(int)
    records = train(data=(x, levels), loss=ordinal, num_steps=200).records
    assert records[-1]["network_train_loss"] < records[0]["network_train_loss"]
    assert "network_train_accuracy" not in records[0]


# A solver.


class Normalised(iterlin.Stepwise):
    """θ ← θ − η g/‖g‖."""

    rate: float

    def init(self, params):
        return None

    def relinearise(self, params, state):
        return None

    def step(self, lazy, gradient, params, state, limit):
        one = jnp.ones_like(limit)
        way = optax.tree.scale(-self.rate / optax.tree.norm(gradient), gradient)
        return iterlin.Taken(optax.tree.add(params, way), state, steps=one, evaluations=one)


class OnHost(iterlin.Solver):
    """The minimiser of each lazy problem by NumPy, taken for as many steps as the phase has."""

    on_host: ClassVar[bool] = True

    def init(self, params):
        return 0

    def relinearise(self, params, state):
        return state + 1

    def advance(self, problem, schedule, state, stop):
        if state.due:
            state = self.relinearised(state, schedule)
        expansion = iterlin.Linearised(problem.fn, state.params0)
        residual = np.ravel(problem.fn(state.params0, problem.x) - problem.y)
        change = np.linalg.lstsq(np.asarray(expansion.jacobian(problem.x)), -residual, rcond=None)[0]
        theta, unflatten = ravel_pytree(state.params0)
        steps = jnp.minimum(schedule.remaining(state.phase_step), stop.remaining(state.step))
        moved = state.phase_step + steps
        where = lambda s: (s.params, s.step, s.phase_step, s.last_phase, s.due)  # noqa: E731
        to = (unflatten(theta + change), state.step + steps, moved, moved, schedule.remaining(moved) <= 0)
        return eqx.tree_at(where, state, to)


def test_a_compiled_solver_of_one_s_own():
    result = train(solver=Normalised(0.01), schedule=iterlin.Every(10), num_steps=10, records_per_decade=100)
    lengths = [record["distance_init"] for record in result.records]
    assert lengths[1] == pytest.approx(0.01)
    assert result.records[-1]["distance_init"] <= 0.1


def test_a_solver_of_one_s_own_on_the_host_is_the_gauss_newton_algorithm():
    data = regression(KEYS[1], n=4)
    own = train(data=data, solver=OnHost(), schedule=1, num_steps=4)
    ridge = train(data=data, solver=iterlin.Ridge(factorisation="qr"), schedule=1, num_steps=4)
    np.testing.assert_allclose(flat(own), flat(ridge), rtol=1e-6, atol=1e-8)  # 4 steps of condition 1e2 to 1e3
    assert own.state.solver_state == 3
    runs = [iterlin.Run(mlp(KEYS[0]), {"train": data}, OnHost())] * 2
    with pytest.raises(ValueError, match="the solver OnHost computes on the host: train its runs one by one"):
        iterlin.train_many(runs, loss=iterlin.squared_error, schedule=2, num_steps=4)


@jax.numpy_dtype_promotion("standard")  # optax's optimisers need it
@pytest.mark.parametrize("K", [1, 6])
def test_any_optimiser_of_optax_and_a_plain_rate(K):
    close(flat(train(solver=0.05, schedule=K)), flat(train(solver=iterlin.sgd(0.05), schedule=iterlin.Every(K))))
    close(flat(train(solver=optax.adam(0.01), schedule=K)), flat(train(solver=iterlin.adam(0.01), schedule=K)))
    nesterov = iterlin.sgd(0.02, momentum=0.9, nesterov=True)
    close(flat(train(solver=nesterov, schedule=K)), flat(train(solver=optax.sgd(0.02, 0.9, True), schedule=K)))
    assert not np.allclose(
        flat(train(solver=nesterov, schedule=6)), flat(train(solver=iterlin.sgd(0.02, momentum=0.9)))
    )


WRONG = {
    "solver='sgd'": "solver must be one such as iterlin.sgd(0.1), an optax optimiser, or the rate η, got 'sgd'",
    "solver=True": "solver must be one such as iterlin.sgd(0.1), an optax optimiser, or the rate η, got True",
    "solver=0.0": "the learning rate η must be positive and finite, got 0.0",
    "schedule='100'": "schedule must be a schedule such as Every(100), or the period K, got '100'",
    "schedule=0": "the period K must be at least 1, got 0",
    "schedule=2.5": "the period K must be a whole number of at most 2147483647, or use Never(); got 2.5",
    "splits=(x, x)": "splits must be arrays (x, y) by name, such as {'train': (x, y)}, got tuple",
    "splits={'train': [1.0, 2.0]}": "split 'train' must be a pair (x, y) of arrays, got list of float, float",
    "splits={'train': x}": "split 'train' must be a pair (x, y) of arrays, got ArrayImpl",
    "splits={'train': (i for i in x)}": "split 'train' must be a pair (x, y) of arrays, got generator",
    "splits={'train': ([1.0], x)}": "split 'train' must be a pair (x, y) of arrays, got tuple of list, ArrayImpl",
}
ASK = """
import equinox as eqx, iterlin, jax, jax.numpy as jnp
x, model = jnp.ones((4, 2)), eqx.nn.Linear(2, 2, key=jax.random.key(0))
def ask(splits={"train": (x, x)}, **settings):
    defaults = {"loss": iterlin.squared_error, "solver": 0.1, "schedule": 1, "num_steps": 1}
    try:
        iterlin.train(model, splits, **(defaults | settings))
    except ValueError as error:
        print(error)
"""


def test_what_is_neither_is_one_line_that_names_the_argument():
    """As a user meets it, without the types that these tests check."""
    script = ASK + "\n".join(f"ask({call})" for call in WRONG)
    env = environment(PYTHONPATH=str(ROOT / "src"))
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == list(WRONG.values()), done.stderr


def test_arrays_of_numpy_are_data_too():
    x, y = regression(KEYS[1])
    close(flat(train(data=(np.asarray(x), np.asarray(y)))), flat(train()))


# A schedule.


class OnError(iterlin.Schedule):
    """Re-linearise once ‖f − f_lin‖ > ε‖f − f_s‖, and count the steps that were looked at."""

    asks_for_error: ClassVar[bool] = True
    epsilon: float

    def init(self):
        return jnp.zeros((), jnp.int32)

    def update(self, state, seen):
        return seen.linearisation_error > self.epsilon, state + 1


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
