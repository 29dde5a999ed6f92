"""One process of a run on several hosts: `python -m tests.hosts PORT COUNT NUMBER`.

It prints what each kind of run ends with.
"""

import json
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import numpy as np

import iterlin

SHARED = {"loss": iterlin.cross_entropy, "schedule": 10, "num_steps": 20, "damping": 0.1}


def main() -> None:
    """Train on the devices of all processes."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    port, count, number = map(int, sys.argv[1:])
    if count > 1:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=count, process_id=number)
    ends = {name: trained(**settings) for name, settings in runs().items()}
    print(json.dumps({"devices": jax.device_count(), "ends": ends}))


def runs() -> dict[str, dict]:
    """Settings of `train`."""
    squared = {"loss": iterlin.squared_error}
    return {
        "steps": {"solver": 0.1},
        "steps, stopped and gone on": {"solver": 0.1, "stopped_at": 10},
        "the same in each process by itself": {"solver": 0.1, "stopped_at": 10, "together": False},
        "mini-batches": {"solver": 0.1, "batch_size": 20, "key": jax.random.key(1)},
        "flow": {"solver": iterlin.Flow(0.01)},
        "truncated Gauss–Newton": {"solver": iterlin.Truncated(1e-6)},
        "dual": {"solver": iterlin.Dual(iterlin.sgd(0.1))},
        "closed form": {"solver": iterlin.ClosedForm(0.1)} | squared,
        "ridge": {"solver": iterlin.Ridge()} | squared,
    }


class Stopped(Exception):
    """As a process is that is killed."""


def trained(stopped_at: int | None = None, together: bool = True, **settings) -> list[float]:
    """All parameters in the end, of a run that may have been stopped at a step once."""
    x = np.random.default_rng(0).normal(size=(60, 4))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    model = eqx.nn.MLP(4, 2, width_size=8, depth=1, dtype=float, key=jax.random.key(0))
    settings = SHARED | settings
    targets = jax.nn.one_hot(y, 2) if settings["loss"] is iterlin.squared_error else y
    mesh = jax.make_mesh((jax.device_count(),), ("data",)) if together else None
    train = partial(iterlin.train, model, {"train": (x, targets)}, mesh=mesh, **settings)
    if stopped_at is None:
        return numbers(train())

    def stop(record: dict[str, float]) -> None:
        if record["step"] >= stopped_at:
            raise Stopped

    # Each process has a folder of its own. Of a run that they compute together, that of the first alone is used.
    with tempfile.TemporaryDirectory() as folder:
        with suppress(Stopped):
            train(checkpoints=iterlin.FileCheckpoints(folder, 0), on_record=stop)
        assert bool(list(Path(folder).iterdir())) == (jax.process_index() == 0 or not together)
        fresh = []
        result = train(checkpoints=iterlin.FileCheckpoints(folder, 0), on_model=lambda step, model: fresh.append(step))
        assert 0 not in fresh  # it has gone on
        return numbers(result)


def numbers(result: iterlin.Result) -> list[float]:
    """All parameters."""
    leaves = jax.tree.leaves(eqx.filter(result.model, eqx.is_array))
    return [float(value) for leaf in leaves for value in np.asarray(leaf).ravel()]


if __name__ == "__main__":
    main()
