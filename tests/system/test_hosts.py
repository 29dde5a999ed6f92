"""One run on several hosts: processes that know each other through jax end alike, and as one process does."""

import json
import socket
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import jax

count, number, port = map(int, sys.argv[1:])
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
if count > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=count, process_id=number)

import equinox as eqx
import numpy as np
import iterlin

x = np.random.default_rng(0).normal(size=(60, 4))
y = (x[:, 0] * x[:, 1] > 0).astype(int)
model = eqx.nn.MLP(4, 2, width_size=8, depth=1, dtype=float, key=jax.random.key(0))
mesh = jax.make_mesh((jax.device_count(),), ("data",))
runs = {
    "steps": {"solver": 0.1},
    "mini-batches": {"solver": 0.1, "batch_size": 20, "key": jax.random.key(1)},
    "flow": {"solver": iterlin.Flow(0.01)},
    "newton": {"solver": iterlin.Truncated(1e-6)},
    "dual": {"solver": iterlin.Dual(iterlin.sgd(0.1))},
    "closed form": {"solver": iterlin.ClosedForm(0.1), "loss": iterlin.squared_error},
    "ridge": {"solver": iterlin.Ridge(), "loss": iterlin.squared_error},
}
ends = {}
for name, settings in runs.items():
    settings = {"loss": iterlin.cross_entropy, "schedule": 10, "num_steps": 20, "damping": 0.1} | settings
    targets = jax.nn.one_hot(y, 2) if settings["loss"] is iterlin.squared_error else y
    result = iterlin.train(model, {"train": (x, targets)}, mesh=mesh, **settings)
    leaves = jax.tree.leaves(eqx.filter(result.model, eqx.is_array))
    ends[name] = [float(value) for leaf in leaves for value in np.asarray(leaf).ravel()]
print(json.dumps({"devices": jax.device_count(), "ends": ends}))
"""


def ends(count: int) -> list[dict]:
    """What each of so many processes ends with."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(count), str(number), port], stdout=subprocess.PIPE, text=True
        )
        for number in range(count)
    ]
    return [json.loads(process.communicate(timeout=300)[0].splitlines()[-1]) for process in started]


def test_two_processes_end_alike_and_as_one_does():
    (alone,) = ends(1)
    first, second = ends(2)
    assert (alone["devices"], first["devices"]) == (1, 2)
    assert first == second
    for name, expected in alone["ends"].items():
        assert first["ends"][name] == pytest.approx(expected, abs=1e-12), name
