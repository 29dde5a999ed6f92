"""What a run cannot be made of, found before anything is compiled."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from iterlin._linearise import Trainable, functional
from iterlin._losses import Loss, cross_entropy, is_squared_error
from iterlin._schedules import bound_of_count, forever


def check_numbers(
    num_steps: int, fit_loss: float | None, divergence_factor: float, first_record: int, records_per_decade: int
) -> None:
    """The numbers that all runs share.

    **Raises**: `ValueError` that names the argument.
    """
    if num_steps < 1:
        raise ValueError(f"num_steps must be at least 1, got {num_steps}")
    if num_steps >= forever():
        raise ValueError(f"num_steps must be below {bound_of_count()}, got {num_steps}")
    if fit_loss is not None and not fit_loss >= 0:
        raise ValueError(f"fit_loss must be at least 0, or None, got {fit_loss}")
    if not divergence_factor >= 1:
        raise ValueError(f"divergence_factor must be at least 1, got {divergence_factor}")
    for name, value in (("first_record", first_record), ("records_per_decade", records_per_decade)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def check_data(model: Any, splits: Any, loss: Loss, trainable: Trainable) -> None:
    """Whether the model takes these examples, and the loss their targets.

    **Raises**: `ValueError` that names the split.
    """
    if not jax.tree.leaves(functional(model, trainable)[0]):
        raise ValueError("the model has no parameters to train")
    if not isinstance(splits, Mapping):
        raise ValueError(
            f"splits must be arrays (x, y) by name, such as {{'train': (x, y)}}, got {type(splits).__name__}"
        )
    if not splits:
        raise ValueError("there are no splits: the first is trained on")
    for name, split in splits.items():
        _check_split(name, split)
    shapes = {name: x.shape[1:] for name, (x, _) in splits.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"examples differ in shape between splits: {shapes}")
    first, (examples, _) = next(iter(splits.items()))
    num_outputs = _num_outputs(model, first, examples)
    for name, (_, y) in splits.items():
        _check_targets(name, y, loss, num_outputs)


def _check_split(name: str, split: Any) -> None:
    if not (
        isinstance(split, tuple) and len(split) == 2 and all(isinstance(part, jax.Array | np.ndarray) for part in split)
    ):
        raise ValueError(f"split {name!r} must be a pair (x, y) of arrays, got {_kind(split)}")
    x, y = split
    if x.ndim == 0 or y.ndim == 0 or len(x) != len(y):
        raise ValueError(f"split {name!r}: x and y differ in their numbers of examples: {x.shape} and {y.shape}")
    if len(x) == 0:
        raise ValueError(f"split {name!r} has no examples")
    for letter, array in (("x", x), ("y", y)):
        if isinstance(array, Tracer) or not jnp.issubdtype(array.dtype, jnp.inexact):
            continue
        finite = (jnp if isinstance(array, jax.Array) else np).isfinite(array)  # where the data lie
        if not finite.all():
            example = int(finite.reshape(len(array), -1).all(axis=1).argmin())
            raise ValueError(f"split {name!r}: {letter} is not finite at example {example}")


def _kind(split: Any) -> str:
    parts = [type(part).__name__ for part in split] if isinstance(split, tuple | list) else []
    return type(split).__name__ + (f" of {', '.join(parts)}" if parts else "")


def _num_outputs(model: Any, name: str, x: Array | np.ndarray) -> int:
    example = jax.ShapeDtypeStruct(x.shape[1:], x.dtype)
    leaves, structure = jax.tree.flatten(jax.tree.map(_shape, model))
    try:
        output = _output(structure, tuple(leaves), example)
    except Exception as error:
        raise ValueError(
            f"split {name!r}: the model cannot take an example of shape {example.shape}: {error}"
        ) from error
    if len(getattr(output, "shape", ())) != 1:
        raise ValueError(f"the model must map an example to a vector of outputs, got {output}")
    return output.shape[0]


def _shape(leaf: Any) -> Any:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if isinstance(leaf, jax.Array | np.ndarray) else leaf


@lru_cache(maxsize=8)  # of runs that train at once, all have the same
def _output(structure: Any, leaves: tuple[Any, ...], example: jax.ShapeDtypeStruct) -> Any:
    return eqx.filter_eval_shape(jax.tree.unflatten(structure, leaves), example)


def _check_targets(name: str, y: Array | np.ndarray, loss: Loss, num_outputs: int) -> None:
    """What the losses of this package take. Another loss knows its own targets."""
    integers = jnp.issubdtype(y.dtype, jnp.integer)
    if is_squared_error(loss) and (integers or y.shape[1:] != (num_outputs,)):
        raise ValueError(
            f"split {name!r}: squared_error takes real targets of the shape of the outputs, "
            f"({len(y)}, {num_outputs}), got {y.dtype} of shape {y.shape}"
        )
    if loss is not cross_entropy:
        return
    if not integers:
        raise ValueError(f"split {name!r}: cross_entropy takes integer class labels, got {y.dtype}")
    if y.ndim != 1:
        raise ValueError(f"split {name!r}: cross_entropy takes class labels, one an example, got shape {y.shape}")
    if not isinstance(y, Tracer):
        low, high = np.min(np.asarray(y)), np.max(np.asarray(y))
        if low < 0 or high >= num_outputs:
            raise ValueError(
                f"split {name!r}: labels must lie between 0 and {num_outputs - 1}, the last of the model's outputs, "
                f"got {low} to {high}"
            )
