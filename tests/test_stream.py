"""Training on batches that come from outside."""

import gc
import itertools
import tracemalloc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import (
    ClosedForm,
    EquinoxModel,
    FileCheckpoints,
    Flow,
    MiniBatch,
    OnConvergence,
    Ridge,
    Run,
    Solver,
    Truncated,
    adam,
    cross_entropy,
    sgd,
    squared_error,
    train,
    train_many,
)
from iterlin._progress import Keeper
from tests.problems import classification, mlp, regression, same, trained

KEYS = jax.random.key(0), jax.random.key(1)
DATA = classification(KEYS[1], n=13)


@eqx.filter_jit
def chosen(batches, data, step):
    """The batch of a step, whose epoch has the order that is drawn at its first step."""
    first = step - step % (batches.num_examples // batches.size)
    *_, order = batches.choose(*data, first, batches.init())
    return batches.choose(*data, step, order)[:2]


def sampled(data=DATA, size=4, asked=None):
    """The batches that `train` draws with this size and the first key."""
    batches = MiniBatch(KEYS[0], len(data[0]), size)

    def stream(start):
        if asked is not None:
            asked.append(start)
        for step in itertools.count(start):
            yield chosen(batches, data, jnp.asarray(step))

    return stream


@pytest.mark.parametrize("schedule", [1, 7, float("inf")])
@pytest.mark.parametrize("solver", [sgd(0.1, momentum=0.9), adam(0.01)])
def test_a_stream_of_the_batches_that_are_drawn_from_memory_gives_the_same_run(schedule, solver):
    settings = {"loss": cross_entropy, "schedule": schedule, "solver": solver, "num_steps": 23, "first_record": 5}
    with jax.numpy_dtype_promotion("standard"):  # for adam
        theta, expected = trained(mlp(KEYS[0]), DATA, batch_size=4, key=KEYS[0], **settings)
        found, result = trained(mlp(KEYS[0]), DATA, stream=sampled(), **settings)
    same(found, theta)
    assert [record.keys() for record in result.records] == [record.keys() for record in expected.records]
    same([[*record.values()] for record in result.records], [[*record.values()] for record in expected.records])


def test_phases_that_end_on_convergence_end_at_the_same_steps():
    settings = {"loss": cross_entropy, "schedule": OnConvergence(0.8), "num_steps": 60, "damping": 0.01}
    theta, expected = trained(mlp(KEYS[0]), DATA, batch_size=4, key=KEYS[0], **settings)
    found, result = trained(mlp(KEYS[0]), DATA, stream=sampled(), **settings)
    assert 1 < int(expected.state.feature_updates) == int(result.state.feature_updates) < 60
    same(found, theta)


def test_a_network_that_draws_sees_the_same_draws():
    model = EquinoxModel(eqx.nn.Sequential([eqx.nn.Dropout(0.5), eqx.nn.Linear(3, 2, key=KEYS[1])]), random=True)
    drawn = jax.random.split(KEYS[0])[0]  # the other one is the network's own

    def stream(start):
        batches = MiniBatch(drawn, 13, 4)
        return (chosen(batches, DATA, jnp.asarray(step)) for step in itertools.count(start))

    settings = {"loss": cross_entropy, "schedule": 3, "key": KEYS[0]}
    theta, _ = trained(model, DATA, batch_size=4, **settings)
    same(trained(model, DATA, stream=stream, **settings)[0], theta)


class Killed(Exception):
    pass


@pytest.mark.parametrize("schedule", [1, 7, OnConvergence(0.8)])
def test_a_killed_run_goes_on_at_its_step_to_the_same_bytes(schedule, tmp_path, monkeypatch):
    monkeypatch.setattr(Keeper, "SHARE", 1e9)  # every step is kept

    def killed(start):
        for step, batch in enumerate(sampled()(start), start):
            if step == 17:
                raise Killed
            yield batch

    asked = []
    settings = {"loss": cross_entropy, "schedule": schedule, "num_steps": 30, "solver": sgd(0.1, momentum=0.9)}
    whole = trained(mlp(KEYS[0]), DATA, stream=sampled(), **settings)
    with pytest.raises(Killed):
        trained(mlp(KEYS[0]), DATA, stream=killed, checkpoints=FileCheckpoints(tmp_path, interval=0.0), **settings)
    again = trained(mlp(KEYS[0]), DATA, stream=sampled(asked=asked), checkpoints=FileCheckpoints(tmp_path), **settings)
    assert asked == [0, 17]  # the first batch tells whose checkpoint it is
    assert again[1].records == whole[1].records
    np.testing.assert_array_equal(again[0], whole[0])


def test_a_checkpoint_of_another_stream_is_refused(tmp_path):
    settings = {"loss": cross_entropy, "num_steps": 5}
    trained(mlp(KEYS[0]), DATA, stream=sampled(), checkpoints=FileCheckpoints(tmp_path, interval=0.0), **settings)
    with pytest.raises(ValueError, match="checkpoints: what is kept there belongs to another call"):
        trained(mlp(KEYS[0]), DATA, stream=sampled(size=5), checkpoints=FileCheckpoints(tmp_path), **settings)


def peak(folder, n):
    """The bytes of arrays on the device, and on the host, at the worst step of an epoch of n examples on disk."""
    path, size, width = folder / f"{n}.npy", 50, 200
    stored = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, width))
    for start in range(0, n, size):
        stored[start : start + size] = np.random.default_rng(start).normal(size=(size, width))
    del stored
    seen = []

    def stream(start):
        stored = np.load(path, mmap_mode="r")
        for step in itertools.count(start):
            x = np.array(stored[step * size % n :][:size])
            gc.collect(0)  # checking shapes leaves cycles, which hold a batch until the next collection
            seen.append(sum(array.nbytes for array in jax.live_arrays()))
            yield x, x[:, :2]

    x = np.random.default_rng(0).normal(size=(10, width))
    gc.collect()
    before = sum(array.nbytes for array in jax.live_arrays())
    tracemalloc.start()
    settings = {"solver": sgd(1e-3), "schedule": 7, "num_steps": n // size, "records_per_decade": 2}
    train(mlp(KEYS[0], inputs=width), {"train": (x, x[:, :2])}, loss=squared_error, stream=stream, **settings)
    host = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(seen) == n // size
    return max(seen) - before, host


def test_memory_does_not_grow_with_the_data(tmp_path):
    peak(tmp_path, 500)  # compiles, and so allocates much
    (device, host), (more_device, more_host) = peak(tmp_path, 500), peak(tmp_path, 5000)
    data, batch = 5000 * 200 * 8, 50 * 200 * 8
    assert more_device <= device + batch < data / 10
    assert more_host < host + 4 * batch < data / 4


def refused(match, **settings):
    with pytest.raises(ValueError, match=match):
        trained(mlp(KEYS[0]), settings.pop("data", DATA), **({"loss": cross_entropy, "stream": sampled()} | settings))


SQUARED = {"loss": squared_error, "data": regression(KEYS[1]), "stream": sampled(regression(KEYS[1]))}


@pytest.mark.parametrize(
    ("solver", "match", "others"),
    [
        (
            Flow(0.1),
            "gradient flow takes full batches, which a stream has not: use a first-order solver such as sgd",
            {},
        ),
        (Truncated(0.1), "truncated Gauss–Newton takes full batches, which a stream has not", {}),
        (Ridge(factorisation="qr"), "the ridge solver takes full batches, which a stream has not", SQUARED),
        (ClosedForm(0.1), "the closed form takes full batches, which a stream has not", SQUARED | {"schedule": 5}),
    ],
)
def test_a_solver_of_all_data_at_once_is_refused(solver, match, others):
    refused(match, solver=solver, **others)


class OnHost(Solver):
    on_host = True

    def init(self, params):
        return None

    def relinearise(self, params, state):
        return None

    def advance(self, problem, schedule, state, stop):
        return state


def test_settings_of_data_in_memory_are_refused():
    refused("batch_size: the batches of a stream have their own size: leave batch_size out", batch_size=3)
    refused("augment: change inputs where the stream makes its batches: leave augment out", augment=lambda key, x: x)
    refused("hoist: the batches of a stream are new at every step, so no phase can keep its linear.*", hoist=True)
    refused("the solver OnHost computes on the host, and may ask for many batches at once: with a", solver=OnHost())


def test_a_stream_that_is_not_one_is_refused():
    x, y = DATA
    refused("stream: it ended before the batch of step 3: begin again where", stream=lambda _: iter([DATA] * 3))
    refused("stream: the batch of step 0 must be a pair .x, y., got Array", stream=lambda _: iter([x]))
    refused(
        r"stream: the batch of step 1 has shapes.*\(5, 3\).*the first one has",
        stream=lambda _: iter([DATA, (x[:5], y[:5])]),
    )
    refused(
        "split 'first batch of the stream': x is not finite at example 2",
        stream=lambda _: iter([(x.at[2].set(jnp.nan), y)]),
    )
    refused("split 'first batch of the stream': labels must lie between 0 and 1", stream=lambda _: iter([(x, y + 1)]))
    refused("examples differ in shape between splits", stream=lambda _: iter([(x[:, :2], y)]))


def test_runs_at_once_take_no_stream():
    runs = [Run(mlp(KEYS[0]), {"train": DATA}, rate, stream=sampled()) for rate in (0.1, 0.2)]
    with pytest.raises(ValueError, match="runs with a stream or a mesh train one by one: call train for each of them"):
        train_many(runs, loss=cross_entropy, schedule=1, num_steps=3)


def test_a_batch_that_is_not_finite_ends_the_run_at_its_step():
    x, y = DATA

    def stream(start):
        return ((x * jnp.where(step == 6, jnp.nan, 1), y) for step in itertools.count(start))

    _, result = trained(mlp(KEYS[0]), DATA, loss=cross_entropy, schedule=4, stream=stream)
    assert result.outcome.name == "diverged"
    assert result.divergence is not None
    assert result.divergence.step == 6
