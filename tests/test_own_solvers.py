"""Solvers of users, optax's optimisers and plain numbers in their place, and what is taken for none of them."""

import subprocess
import sys
from functools import partial
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
from tests.problems import mlp, regression
from tests.test_own_parts import KEYS, close, flat, train


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
        remaining = partial(schedule.remaining, state.schedule_state)
        steps = jnp.minimum(remaining(state.phase_step), stop.remaining(state.step))
        moved = state.phase_step + steps
        where = lambda s: (s.params, s.step, s.phase_step, s.last_phase, s.due)  # noqa: E731
        to = (
            unflatten(theta + change),
            state.step + steps,
            moved,
            moved,
            remaining(moved) <= 0,
        )
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
    "schedule=2.5": "the period K must be a whole number of at most 2147483647 (jax_enable_x64 counts further), or use "
    "Never(); got 2.5",
    "num_steps=2**31": "num_steps must be below 2147483647 (jax_enable_x64 counts further), got 2147483648",
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
