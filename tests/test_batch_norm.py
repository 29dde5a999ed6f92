"""BatchNorm in a lazy phase, under three policies: laws against loops by hand, and against equinox itself."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest
from equinox.nn import BatchNorm, Linear
from jax.flatten_util import ravel_pytree

from iterlin import (
    EquinoxModel,
    Every,
    FileCheckpoints,
    Linearised,
    Never,
    Truncated,
    functional,
    sgd,
    squared_error,
    train,
    train_many,
)
from iterlin._history import Run
from iterlin._schedules import OnNetwork
from iterlin._solvers.stepwise import advance
from iterlin._start import initial_state, lazy_problem
from iterlin._state import Stop
from tests.problems import regression, same

KEY, DATA_KEY = jax.random.split(jax.random.key(7))
DATA = regression(DATA_KEY)
RATE, EPS, STEPS = 0.05, 1e-5, 20


class Normed(eqx.Module):
    """Linear, BatchNorm, tanh, linear, as equinox writes it."""

    first: Linear
    norm: BatchNorm
    last: Linear

    def __init__(self, key, mode: Any = "batch"):
        keys = jax.random.split(key)
        self.first, self.last = Linear(3, 5, key=keys[0]), Linear(5, 2, key=keys[1])
        self.norm = BatchNorm(5, "batch", mode=mode, momentum=0.9, eps=EPS)

    def __call__(self, x, state):
        hidden, state = self.norm(self.first(x), state)
        return self.last(jnp.tanh(hidden)), state


@pytest.fixture(autouse=True)
def _equinox_promotes():
    """Equinox's BatchNorm takes a power of a float and an integer."""
    with jax.numpy_dtype_promotion("standard"):
        yield


def normed(statistics: Any = "batch", key=KEY):
    module, state = eqx.nn.make_with_state(Normed)(key)
    return EquinoxModel(module, statistics=statistics), state


def by_hand(module, x, *statistics):
    """The network with these statistics, or with the batch's own; and the batch's own."""
    hidden = jax.vmap(module.first)(x)
    own = hidden.mean(0), hidden.var(0)
    mean, variance = statistics or own

    def output(hidden):
        normed = (hidden - mean) / jnp.sqrt(variance + EPS) * module.norm.weight + module.norm.bias
        return module.last(jnp.tanh(normed))

    return jax.vmap(output)(hidden), own


def run(model, state=None, **settings):
    defaults = {"loss": squared_error, "solver": sgd(RATE), "schedule": 1, "num_steps": STEPS}
    return train(model, {"train": DATA}, state=state, **(defaults | settings))


def flat(model):
    return ravel_pytree(eqx.filter(model, eqx.is_inexact_array))[0]


@eqx.filter_jit
def step_by_hand(module, at, policy, running):
    """A step of gradient descent on the expansion about the module `at`."""
    theta, static = eqx.partition(module, eqx.is_inexact_array)
    theta0 = eqx.filter(at, eqx.is_inexact_array)
    own = by_hand(at, DATA[0])[1]
    statistics = {"batch": (), "frozen": own, "running": running}[policy]

    def loss(theta):
        def network(theta):
            return by_hand(eqx.combine(theta, static), DATA[0], *statistics)[0]

        outputs, change = jax.jvp(network, (theta0,), (jax.tree.map(jnp.subtract, theta, theta0),))
        return squared_error(outputs + change, DATA[1])

    return eqx.combine(jax.tree.map(lambda a, g: a - RATE * g, theta, jax.grad(loss)(theta)), static)


@pytest.mark.parametrize("policy", ["batch", "frozen", "running"])
@pytest.mark.parametrize("period", [1, 7, float("inf")])
def test_phases_with_batch_norm_are_those_of_a_hand_written_loop(policy, period):
    """K = 1 is plain training with BatchNorm, and every K its expansion, to rounding."""
    model, state = normed(policy)
    result = run(model, state, schedule=period)
    module, at, running, updates = model.module, model.module, (jnp.zeros(5), jnp.zeros(5)), 0
    for step in range(STEPS):
        if step % period == 0:
            at, updates = module, updates + 1
            own = by_hand(at, DATA[0])[1]
            running = [0.9 * old + 0.1 * new for old, new in zip(running, own, strict=True)]
        module = step_by_hand(module, at, policy, [value / (1 - 0.9**updates) for value in running])
    same(flat(result.model.module), flat(module))
    if policy == "running":
        same(result.state.model_state.get(model.module.norm.batch_state_index)[0], running[0])


@pytest.mark.parametrize("policy", ["batch", "frozen", "running"])
def test_records_measure_what_is_trained(policy):
    """With full batches the loss of the proxy is the lazy problem's, and the certificate falls to rounding."""
    model, state = normed(policy)
    result = run(model, state, solver=Truncated(1e-8), schedule=Never(), num_steps=2, damping=1e-3)
    assert result.records[-1]["certificate"] < 1e-7
    assert result.records[0]["network_train_loss"] == pytest.approx(result.records[0]["proxy_train_loss"], rel=1e-12)
    if policy == "batch":
        outputs = by_hand(result.model.module, DATA[0])[0]
        same(result.records[-1]["network_train_loss"], squared_error(outputs, DATA[1]))


def test_the_expansion_goes_through_the_batch_statistics_or_not():
    """Scaling the weights before BatchNorm changes no output where the expansion sees the statistics."""
    scaled = {}
    for policy in ("batch", "frozen"):
        model, state = normed(policy)
        theta, fn = functional(model)
        bound = fn.at(theta, DATA[0], state, None, jnp.asarray(True))
        along = jax.tree.map(jnp.zeros_like, theta)
        first = model.module.first
        along = eqx.tree_at(lambda m: (m.module.first.weight, m.module.first.bias), along, (first.weight, first.bias))
        scaled[policy] = float(jnp.abs(Linearised(bound, theta).jvp(along, DATA[0])).max())
    assert scaled["batch"] < 20 * EPS < 1e-2 < scaled["frozen"]


class Plain(eqx.Module):
    """The same layers without BatchNorm."""

    first: Linear
    last: Linear

    def __call__(self, x):
        return self.last(jnp.tanh(self.first(x)))


def products(model, state, schedule):
    """How many matrix products the program of a step has."""
    problem, params = lazy_problem(model, DATA, loss=squared_error, state=state, hoist=False)
    start = initial_state(problem, params, sgd(RATE), schedule, state)
    program, *_ = eqx.filter_make_jaxpr(advance)(problem, sgd(RATE), schedule, start, Stop(1, 1, 1))
    return str(program).count("dot_general[")


@pytest.mark.parametrize("schedule", [OnNetwork(), Every(3)])
def test_the_state_costs_no_forward_pass_of_its_own(schedule):
    model, state = normed()
    plain = EquinoxModel(Plain(model.module.first, model.module.last))
    assert products(model, state, schedule) == products(plain, None, schedule) > 4


def test_the_state_of_plain_training_is_that_of_equinox():
    model, state = normed()
    result = run(model, state)
    expected, theta = eqx.nn.make_with_state(Normed)(KEY)[1], model.module
    optimiser = optax.sgd(RATE)
    parameters = eqx.filter(theta, eqx.is_inexact_array)
    memory = optimiser.init(parameters)

    @eqx.filter_jit
    def step(theta, state, memory):
        def loss(theta, state):
            outputs, state = jax.vmap(theta, (0, None), (0, None), axis_name="batch")(DATA[0], state)
            return squared_error(outputs, DATA[1]), state

        slope, state = eqx.filter_grad(loss, has_aux=True)(theta, state)
        updates, memory = optimiser.update(slope, memory)
        return eqx.apply_updates(theta, updates), state, memory

    for _ in range(STEPS):
        theta, expected, memory = step(theta, expected, memory)
    same(flat(result.model.module), flat(theta))
    for found, known in zip(*map(jax.tree.leaves, (result.state.model_state, expected)), strict=True):
        same(found, known)


@pytest.mark.parametrize("statistics", ["batch", "frozen", "running"])
def test_runs_at_once_keep_their_own_states(statistics):
    runs = []
    for key in jax.random.split(KEY, 2):
        model, state = normed(statistics, key)
        runs.append(Run(model, {"train": DATA}, sgd(RATE), key=key, state=state))
    settings = {"loss": squared_error, "schedule": 3, "num_steps": 10, "batch_size": 4}
    for one, result in zip(runs, train_many(runs, **settings), strict=True):
        alone = train(one.model, one.splits, solver=one.solver, key=one.key, state=one.state, **settings)
        same(flat(result.model), flat(alone.model))
        for found, known in zip(
            *map(jax.tree.leaves, (result.state.model_state, alone.state.model_state)), strict=True
        ):
            same(found, known)


def test_a_run_that_goes_on_from_a_checkpoint_has_its_statistics(tmp_path):
    model, state = normed("running")
    settings = {"schedule": 3, "records_per_decade": 3}
    whole = run(model, state, **settings)

    class Killed(Exception):
        pass

    def kill(record):
        if record["step"] >= 10:
            raise Killed

    checkpoints = FileCheckpoints(tmp_path, interval=0.0)
    with pytest.raises(Killed):
        run(model, state, on_record=kill, checkpoints=checkpoints, **settings)
    again = run(model, state, checkpoints=checkpoints, **settings)
    assert again.records == whole.records
    other = jax.tree.map(lambda leaf: leaf + 1, state)
    with pytest.raises(ValueError, match="checkpoints: what is kept there belongs to another call"):
        run(model, other, checkpoints=checkpoints, **settings)


def test_the_mode_of_equinox_that_is_another_policy_is_refused():
    with pytest.raises(ValueError, match="a BatchNorm is in the mode 'ema': build it with mode='batch'"):
        EquinoxModel(eqx.nn.make_with_state(Normed)(KEY, mode="ema")[0])
