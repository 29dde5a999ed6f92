"""What tells a run from others: a digest of everything that its result depends on."""

import dataclasses
import functools
import hashlib
from collections.abc import Iterator, Mapping
from types import CellType, FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from iterlin._devices import gathered


def fingerprint(*parts: Any) -> str:
    """A digest of trees of modules, arrays, plain values and functions, which is the same in every process.

    A function enters with its code and all that it has closed over, as optax's optimisers have their hyperparameters.
    """
    digest = hashlib.sha256()
    for part in _written(parts, set()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def is_key(value: Any) -> bool:
    """Whether it is an array of random keys."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def as_numbers(value: Any) -> Any:
    """The numbers of random keys, which NumPy does not know; anything else as it is."""
    return jax.random.key_data(value) if is_key(value) else value


def _written(value: Any, seen: set[int]) -> Iterator[bytes]:
    value = as_numbers(value)
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        array = gathered(value) if isinstance(value, jax.Array) else np.asarray(value)
        yield f"{array.dtype} {array.shape}".encode() + array.tobytes()
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield repr(value).encode()
    elif id(value) not in seen:  # a function may have closed over itself
        yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
        for part in _parts(value):
            yield from _written(part, seen | {id(value)})


def _parts(value: Any) -> tuple[Any, ...]:
    """What an object consists of. One of a type that is not known enters with the name of that type alone."""
    if isinstance(value, Mapping):
        return tuple(part for item in value.items() for part in item)
    if isinstance(value, tuple | list):
        return tuple(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(getattr(value, field.name, None) for field in dataclasses.fields(value))
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, FunctionType):
        cells = [*map(_content, value.__closure__ or ())]
        constants = [constant for constant in value.__code__.co_consts if not hasattr(constant, "co_code")]
        return value.__qualname__, value.__code__.co_code, constants, value.__defaults__, value.__kwdefaults__, cells
    if isinstance(value, type):
        return (value.__qualname__,)
    if hasattr(value, "__wrapped__"):
        return (value.__wrapped__,)
    leaves = jax.tree.leaves(value)  # of a container that jax knows, such as the state of layers
    return () if len(leaves) == 1 and leaves[0] is value else tuple(leaves)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty as long as the name has no value
        return None
