"""Whether the device of jax ends where a CPU does, in float64: `python -m benchmarks.agreement`."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import iterlin
from benchmarks.__main__ import markdown
from benchmarks.problems import CLASSES, LeNetProblem

PROBLEM = LeNetProblem("", 80, (8, 8, 1), channels=4, kernel=3, padding="SAME", widths=(16, 12))
HEADER = ["what", "parameters differ by, of their norm"]


def main() -> None:
    """Print one table."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    cpu, device = jax.devices("cpu")[0], jax.devices()[0]
    print(f"{device.device_kind} and {cpu.device_kind}, jax {jax.__version__}\n\n{markdown([], HEADER)}")
    for name, settings in cases():
        there, here = (trained({"loss": iterlin.cross_entropy} | settings, on) for on in (cpu, device))
        print(f"| {name} | {np.linalg.norm(here - there) / np.linalg.norm(there):.1e} |", flush=True)


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings of `train`, by what they are called."""
    sgd, every = iterlin.sgd(0.05), iterlin.Every
    yield "explicit steps", {"solver": sgd, "schedule": every(5), "num_steps": 50}
    yield "mini-batches", {"solver": sgd, "schedule": every(5), "num_steps": 50, "batch_size": 20}
    yield "momentum", {"solver": optax.sgd(0.02, momentum=0.9), "schedule": every(5), "num_steps": 50}
    yield "Adam", {"solver": optax.adam(1e-3), "schedule": every(5), "num_steps": 50}
    yield "flow, K = 1", {"solver": iterlin.Flow(0.01), "schedule": 1, "num_steps": 1000}
    yield "flow, K = 1000", {"solver": iterlin.Flow(0.01), "schedule": every(1000), "num_steps": 4000}
    yield (
        "truncated Gauss–Newton",
        {"solver": iterlin.Truncated(1e-3), "schedule": 50, "num_steps": 100, "damping": 0.1},
    )
    yield "steps in the dual", {"solver": iterlin.Dual(sgd), "schedule": every(100), "num_steps": 300}
    yield (
        "flow in the dual",
        {"solver": iterlin.Dual(iterlin.Flow(0.01)), "schedule": every(10**4), "num_steps": 20_000},
    )
    squared = {"loss": iterlin.squared_error, "schedule": every(100), "num_steps": 300}
    yield "closed form", {"solver": iterlin.ClosedForm(0.05), **squared}
    yield (
        "bound on the linearisation error",
        {"solver": sgd, "schedule": iterlin.OnLinearisationError(0.1), "num_steps": 100},
    )


def trained(settings: dict[str, Any], device: Any) -> np.ndarray:
    """All parameters in the end, in one vector."""
    with jax.default_device(device):
        x, y = map(jnp.asarray, PROBLEM.data())
        targets = jax.nn.one_hot(y, CLASSES) if settings["loss"] is iterlin.squared_error else y
        model, key = PROBLEM.model(jax.random.key(0)), jax.random.key(1)
        result = iterlin.train(model, {"train": (x.astype(float), targets)}, key=key, **settings)
        params, _ = iterlin.functional(result.model)
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(params)])


if __name__ == "__main__":
    main()
