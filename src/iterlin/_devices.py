"""One run on several devices: its examples are spread over them, and all else lies on each.

The programs are those of one device. Where arrays lie says how jax divides them, and what devices tell each other.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import broadcast_one_to_all, process_allgather
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, PyTree

NOWHERE = AbstractMesh((), ())


def one_axis(mesh: Mesh | None) -> Mesh | None:
    """The mesh, with an axis that jax divides programs over by itself.

    **Raises**: `ValueError` for what is no mesh, or a mesh of several axes.
    """
    if mesh is None:
        return None
    if not isinstance(mesh, Mesh):
        raise ValueError(f"mesh must be a jax.sharding.Mesh, such as jax.make_mesh((4,), ('data',)), got {mesh!r}")
    if len(mesh.axis_names) != 1:
        raise ValueError(
            f"mesh: examples are spread over one axis, and this mesh has {len(mesh.axis_names)} "
            f"({', '.join(map(str, mesh.axis_names))}): give jax.sharding.Mesh(mesh.devices.ravel(), 'data')"
        )
    return Mesh(mesh.devices, mesh.axis_names)


def on(mesh: Mesh | None) -> AbstractContextManager[Any]:
    """Where what is compiled knows that examples are spread."""
    return nullcontext() if mesh is None else jax.set_mesh(mesh)


def copied(tree: Any, mesh: Mesh | None) -> Any:
    """A tree whose arrays of jax lie on every device."""
    if mesh is None:
        return tree
    return jax.tree.map(lambda leaf: _copied(leaf, mesh) if isinstance(leaf, jax.Array) else leaf, tree)


def _copied(array: Array, mesh: Mesh) -> Array:
    everywhere = NamedSharding(mesh, PartitionSpec())
    if not jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return jax.device_put(array, everywhere)
    # A key itself cannot be put on the devices of another host.
    data = jax.device_put(jax.random.key_data(array), everywhere)
    return jax.random.wrap_key_data(data, impl=jax.random.key_impl(array))


def require_shares(what: str, n: int, mesh: Mesh | None) -> None:
    """**Raises**: `ValueError` if devices cannot have equal shares of n examples."""
    if mesh is not None and n % mesh.size:
        raise ValueError(
            f"mesh: the {n} examples of {what} cannot be spread evenly over {mesh.size} devices: leave {n % mesh.size} "
            f"out, or add {-n % mesh.size}"
        )


def spread(what: str, examples: PyTree[Array | np.ndarray], mesh: Mesh | None, must: bool = True) -> PyTree[Array]:
    """Examples on the device, or an equal share of them on each device, which come there from where they are.

    Unless they `must` be spread, each device has all of them where equal shares are impossible.

    **Raises**: `ValueError` if the devices cannot have equal shares.
    """
    if mesh is None:
        return jax.tree.map(jnp.asarray, examples)
    n = len(jax.tree.leaves(examples)[0])
    if must:
        require_shares(what, n, mesh)
    shares = PartitionSpec() if n % mesh.size else PartitionSpec(*mesh.axis_names)
    return jax.device_put(examples, NamedSharding(mesh, shares))


def gathered(array: Array) -> np.ndarray:
    """All of an array in numpy, on every host, also where it is spread over devices of several hosts."""
    here = array.is_fully_addressable or array.is_fully_replicated
    return np.asarray(array if here else process_allgather(array, tiled=True))


def spans_hosts(tree: PyTree) -> bool:
    """Whether an array in it lies on devices of several hosts, which then compute one run together."""
    return any(isinstance(leaf, jax.Array) and not leaf.is_fully_addressable for leaf in jax.tree.leaves(tree))


def from_first(content: bytes) -> bytes:
    """What the first process gives, in all processes of a run on several hosts. All of them have to call it."""
    length = int(broadcast_one_to_all(np.int32(len(content))))
    given = np.frombuffer(content.ljust(length)[:length], np.uint8)
    return np.asarray(broadcast_one_to_all(given)).tobytes()


def num_devices() -> int:
    """How many devices the examples of the program being traced are spread over."""
    mesh = jax.sharding.get_abstract_mesh()
    return 1 if mesh.empty else mesh.size


def spread_here(examples: PyTree[Array]) -> PyTree[Array]:
    """The same examples in the program being traced, divided among the devices if there are several."""
    mesh = jax.sharding.get_abstract_mesh()
    return examples if mesh.empty else jax.lax.with_sharding_constraint(examples, PartitionSpec(*mesh.axis_names))


def by_device(function: Callable[[PyTree[Array]], PyTree[Array]], x: PyTree[Array]) -> PyTree[Array]:
    """The outputs for all n inputs, where each device computes those of its own share.

    Shares are filled up with the last example, whose further outputs are dropped.
    """
    devices = num_devices()
    if devices == 1:
        return function(x)
    n = len(jax.tree.leaves(x)[0])

    def shares(array):
        filled = jnp.concatenate([array, *[array[-1:]] * (-n % devices)])
        return filled.reshape(devices, -1, *array.shape[1:])

    own = spread_here(jax.tree.map(shares, x))
    with jax.sharding.use_abstract_mesh(NOWHERE):  # within its share a device is alone
        outputs = jax.vmap(function)(own)
    return jax.tree.map(lambda f: f.reshape(-1, *f.shape[2:])[:n], outputs)
