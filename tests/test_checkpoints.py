"""A checkpoint belongs to the very call that made it."""

import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

from iterlin import Drawn, Every, FileCheckpoints, Flow, RecordAt, Truncated, cross_entropy, sgd, train
from iterlin._checkpoints import LAST
from iterlin._fingerprint import fingerprint
from tests.clone import ROOT, environment
from tests.problems import classification, mlp

KEYS = jax.random.key(0), jax.random.key(1)
CALL = {"solver": sgd(0.1), "schedule": Every(7), "num_steps": 40, "damping": 0.0, "key": KEYS[0]}


def run(folder, model=None, data=None, **changes):
    settings: dict[str, Any] = CALL | {"records_per_decade": 4} | changes
    checkpoints = FileCheckpoints(folder, interval=0.0)
    data = data or classification(KEYS[1])
    return train(model or mlp(KEYS[0]), {"train": data}, loss=cross_entropy, checkpoints=checkpoints, **settings)


@pytest.mark.parametrize("schedule", [Every(7), Drawn(2, 9, KEYS[1])])  # the state of the second has a random key
def test_the_folder_is_made_and_the_same_call_goes_on(schedule, tmp_path):
    folder = tmp_path / "runs" / "first"
    first = run(folder, schedule=schedule)
    assert (folder / LAST).exists()
    again = run(str(folder), schedule=schedule)
    assert again.records == first.records


X, Y = classification(KEYS[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"solver": sgd(0.2)},
        {"solver": Flow(0.1)},
        {"solver": Truncated(0.1)},
        {"solver": sgd(0.1, momentum=0.9)},
        {"schedule": Every(8)},
        {"num_steps": 50},
        {"damping": 0.1},
        {"fit_loss": 0.1},
        {"data": (X, 1 - Y)},
        {"data": (X.at[3, 1].add(1e-12), Y)},
        {"model": mlp(KEYS[1])},
        {"model": mlp(KEYS[0], activation=jax.nn.softplus)},
        {"batch_size": 3},
        {"divergence_factor": 1e5},
        {"until": lambda record: record["step"] > 30},
        {"record_at": [RecordAt([3], lambda moment: {"three": 3.0})]},
    ],
)
def test_another_call_is_refused(changes, tmp_path):
    run(tmp_path)
    with pytest.raises(ValueError, match="checkpoints: what is kept there belongs to another call, which differed in"):
        run(tmp_path, **changes)


def doubled(outputs, labels):
    return 2 * cross_entropy(outputs, labels)


def tripled(factor):
    return lambda outputs, labels: factor * cross_entropy(outputs, labels)


OTHERS = [optax.adam(0.1), optax.adam(0.2), optax.adam(0.1, b1=0.8), optax.sgd(0.1), doubled, tripled(3), tripled(4)]


def test_functions_are_told_apart_by_their_code_and_what_they_have_closed_over():
    digests = [fingerprint(value) for value in OTHERS]
    assert len(set(digests)) == len(OTHERS)
    assert fingerprint(optax.adam(0.1)) == digests[0]
    assert fingerprint(tripled(3)) == digests[5]


def test_a_fingerprint_is_the_same_in_every_process():
    script = (
        "import jax, optax; from iterlin._fingerprint import fingerprint; from tests.problems import mlp\n"
        "print(fingerprint(mlp(jax.random.key(0), activation=jax.nn.relu), optax.adam(0.1), jax.random.key(3)))"
    )
    env = environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}", JAX_ENABLE_X64="1")
    told = [subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True) for _ in "ab"]
    assert told[0].stdout == told[1].stdout


def test_another_key_of_mini_batches_is_another_call(tmp_path):
    run(tmp_path, batch_size=3)
    with pytest.raises(ValueError, match="belongs to another call"):
        run(tmp_path, batch_size=3, key=KEYS[1])
    assert jnp.isfinite(run(tmp_path, batch_size=3).records[-1]["network_train_loss"])
