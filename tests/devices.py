"""Four devices: a program that compares runs on them with runs on one, for a process with that many."""

import json
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import iterlin
from iterlin import _blocks, _execution, _group, _kernels
from iterlin._devices import on, one_axis, spread
from tests.clone import ROOT

KEY = jax.random.key(0)
MODEL = eqx.nn.MLP(3, 2, width_size=7, depth=2, key=KEY)
X = jax.random.normal(KEY, (72, 3))
Y = (X[:, 0] > 0).astype(int)
MESH = jax.make_mesh((4,), ("data",))


def batches(start):
    """Batches of 12 examples, in their order, again and again."""
    step = start
    while True:
        yield tuple(np.roll(part, -12 * step, axis=0)[:12] for part in (X, Y))
        step += 1


CALLS = {
    "K = 1": {"schedule": 1},
    "K = ∞": {"schedule": float("inf"), "solver": iterlin.adam(0.01)},
    "nothing kept, in chunks": {"schedule": 7, "hoist": False},
    "in blocks": {"schedule": 7, "block_bytes": 500},
    "mini-batches": {"schedule": 7, "batch_size": 12, "key": KEY},
    "stream": {"schedule": 7, "stream": batches},
    "flow": {"schedule": 5, "solver": iterlin.Flow(0.1)},
    "ridge": {"schedule": 1, "solver": iterlin.Ridge(), "damping": 0.1, "loss": iterlin.squared_error},
    "closed form": {"schedule": 5, "solver": iterlin.ClosedForm(0.1), "loss": iterlin.squared_error},
    "dual": {"schedule": 5, "solver": iterlin.Dual(iterlin.sgd(0.1))},
    "dual, mini-batches": {"schedule": 5, "solver": iterlin.Dual(iterlin.sgd(0.1)), "batch_size": 12, "key": KEY},
}


def difference(call):
    """The largest difference between one device and four, over parameters and records."""
    settings = {"loss": iterlin.cross_entropy, "solver": 0.1, "num_steps": 10} | call
    y = X[:, :2] if settings["loss"] is iterlin.squared_error else Y
    # The kernel of all 72 has eigenvalues 1e-12 of the largest: there rounding grows in the dual. That of 24 has none.
    n = 24 if isinstance(settings["solver"], iterlin.Dual) else len(X)
    data = {"train": (X[:n], y[:n]), "test": (X[:11], y[:11])}  # 11 examples have no equal shares
    one, four = (iterlin.train(MODEL, data, mesh=mesh, **settings) for mesh in (None, MESH))
    for leaf in jax.tree.leaves(four.state.params):
        assert leaf.sharding.is_fully_replicated
        assert len(leaf.sharding.device_set) == 4
    pairs = zip(jax.tree.leaves(one.state.params), jax.tree.leaves(four.state.params), strict=True)
    worst = [float(abs(np.asarray(a) - np.asarray(b)).max()) for a, b in pairs]
    records = zip(one.records, four.records, strict=True)
    return max(worst + [abs(a[name] - b[name]) for a, b in records for name in a])


def kernels():
    """The largest difference between kernels, with blocks of sizes that four does not divide."""
    params, fn = iterlin.functional(MODEL)
    whole = iterlin.empirical_ntk(fn, params, X)
    found = [iterlin.empirical_ntk(fn, params, X, mesh=MESH, max_bytes=whole.nbytes + more) for more in (90_000, 10**9)]
    across = iterlin.empirical_ntk(fn, params, X[:13], X[13:20], mesh=MESH)
    parts = iterlin.empirical_ntk_by_leaf(fn, params, X, mesh=MESH)
    found.append(np.sum([*parts.values()], axis=0))
    return max(*(float(abs(whole - one).max()) for one in found), float(abs(across - whole[:13, :, 13:20]).max()))


def shares(array):
    """How many examples every device has, and how many it would have to hold if they were not spread."""
    return sorted({shard.data.shape[0] for shard in array.addressable_shards}), array.shape[0]


class Seen(_execution.Single):
    """A run that says where its data lie."""

    def advance(self, stop, moving):
        SEEN["data"], SEEN["devices"] = shares(self._fixed.problem.x), len(self._fixed.problem.x.sharding.device_set)
        return super().advance(stop, moving)


SEEN = {}


def operations(mesh):
    """The operations of the gradient on one device, as compiled for where the examples lie."""
    params, fn = iterlin.functional(MODEL, block_bytes=10**9)
    x = spread("the data", jnp.tile(X, (40, 1)), mesh)
    with on(mesh):
        gradient = jax.jit(jax.grad(lambda params, x: jnp.mean(fn(params, x) ** 2)))
        return dict(gradient.lower(params, x).compile().cost_analysis() or {})["flops"]


def documented():
    """Where the results lie of the code that the page shows."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/devices.md").read_text(), flags=re.M | re.S)
    names = {}
    exec("\n".join(blocks), names)
    devices = [len(leaf.sharding.device_set) for leaf in jax.tree.leaves(names["spread"].state.params)]
    learnt = [names[run].records[-1]["network_train_loss"] for run in ("streamed", "spread")]
    return {"devices": devices, "losses": learnt, "kernel": names["kernel"].shape}


def refused(call):
    """What a call is refused with."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return "nothing"


def train(mesh, n=72, **settings):
    """A call that trains a little."""
    return lambda: iterlin.train(
        MODEL,
        {"train": (X[:n], Y[:n])},
        loss=iterlin.cross_entropy,
        solver=0.1,
        schedule=1,
        num_steps=2,
        mesh=mesh,
        **settings,
    )


def main():
    """All of it, as JSON."""
    _blocks.CHUNK, _kernels.BATCH = 10, 5  # so that each device has several chunks of its own
    told = {"differences": {name: difference(call) for name, call in CALLS.items()}, "kernels": kernels()}
    with_seen, _group.Single = _group.Single, Seen
    train(MESH)()
    _group.Single = with_seen
    told |= SEEN | {"operations": [operations(mesh) for mesh in (None, one_axis(MESH))], "documented": documented()}
    told["refused"] = {
        "shares": refused(train(MESH, n=70)),
        "batch": refused(train(MESH, batch_size=10, key=KEY)),
        "axes": refused(train(jax.make_mesh((2, 2), ("data", "model")))),
        "kind": refused(train(4)),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
