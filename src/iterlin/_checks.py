"""What a run cannot be made of, found before anything is compiled."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, PyTree

from iterlin._linearise import Trainable, functional
from iterlin._losses import Loss, cross_entropy, is_squared_error
from iterlin._outputs import outputs_of
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


def check_data(model: Any, splits: Any, loss: Loss, trainable: Trainable, state: Any = None) -> None:
    """Whether the model takes these examples, and the loss their targets.

    **Raises**: `ValueError` that names the split.
    """
    if not jax.tree.leaves(functional(model, trainable)[0]):
        raise ValueError("the model has no parameters to train: `trainable` selects no array of it")
    _check_dtypes(eqx.filter(model, trainable))
    if not isinstance(splits, Mapping):
        raise ValueError(
            f"splits must be arrays (x, y) by name, such as {{'train': (x, y)}}, got {type(splits).__name__}"
        )
    if not splits:
        raise ValueError("there are no splits: the first is trained on")
    for name, split in splits.items():
        _check_split(name, split)
    shapes = {name: jax.tree.map(lambda array: array.shape[1:], x) for name, (x, _) in splits.items()}
    if any(shape != next(iter(shapes.values())) for shape in shapes.values()):
        raise ValueError(f"examples differ in shape between splits: {shapes}")
    first, (examples, _) = next(iter(splits.items()))
    outputs = outputs_of(model, first, examples, state)
    for name, (_, y) in splits.items():
        _check_targets(name, y, loss, outputs)


def _check_dtypes(params: PyTree[Array | np.ndarray]) -> None:
    """Steps, norms and states of solvers take θ for a vector of numbers of one type, which jax must have."""
    (first, like), *_ = leaves = jax.tree_util.tree_leaves_with_path(params)
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path) or "θ"
        if jax.dtypes.canonicalize_dtype(leaf.dtype) != leaf.dtype:
            raise ValueError(
                f"the parameter {name} is {leaf.dtype}, and jax has 32 bits: set jax_enable_x64, or cast it to float32"
            )
        if leaf.dtype != like.dtype:
            raise ValueError(
                f"the parameter {name} is {leaf.dtype}, and {jax.tree_util.keystr(first)} is {like.dtype}: cast the "
                "parameters to one dtype, or leave some out of `trainable`"
            )


def _check_split(name: str, split: Any) -> None:
    if not (isinstance(split, tuple) and len(split) == 2 and all(_arrays(part) for part in split)):
        raise ValueError(f"split {name!r} must be a pair (x, y) of arrays, got {_kind(split)}")
    x, y = split
    lengths = {array.shape[0] if array.ndim else None for array in jax.tree.leaves(split)}
    if len(lengths) > 1 or None in lengths:
        shapes = (jax.tree.map(jnp.shape, part) for part in split)
        raise ValueError(
            f"split {name!r}: x and y differ in their numbers of examples: {' and '.join(map(str, shapes))}"
        )
    if lengths == {0}:
        raise ValueError(f"split {name!r} has no examples")
    for letter, part in (("x", x), ("y", y)):
        for path, array in jax.tree_util.tree_leaves_with_path(part):
            _check_finite(f"split {name!r}: {letter}{jax.tree_util.keystr(path)}", array)


def _arrays(part: Any) -> bool:
    leaves = jax.tree.leaves(part)
    return bool(leaves) and all(isinstance(leaf, jax.Array | np.ndarray) for leaf in leaves)


def _check_finite(what: str, array: Array | np.ndarray) -> None:
    if isinstance(array, Tracer) or not jnp.issubdtype(array.dtype, jnp.inexact):
        return
    finite = (jnp if isinstance(array, jax.Array) else np).isfinite(array)  # where the data lie
    if not finite.all():
        example = int(finite.reshape(len(array), -1).all(axis=1).argmin())
        raise ValueError(f"{what} is not finite at example {example}")


def _kind(split: Any) -> str:
    parts = [type(part).__name__ for part in split] if isinstance(split, tuple | list) else []
    return type(split).__name__ + (f" of {', '.join(parts)}" if parts else "")


def _check_targets(name: str, y: PyTree[Array | np.ndarray], loss: Loss, outputs: PyTree[jax.ShapeDtypeStruct]) -> None:
    """What the losses of this package take. Another loss knows its own targets."""
    ours = "squared_error" if is_squared_error(loss) else "cross_entropy" if loss is cross_entropy else None
    if ours is None:
        return
    if len(jax.tree.leaves((y, outputs))) != 2:
        raise ValueError(
            f"split {name!r}: {ours} takes one array of targets and one of outputs: write a loss of your own"
        )
    integers, shape = jnp.issubdtype(y.dtype, jnp.integer), outputs.shape[1:]
    if ours == "squared_error" and (integers or y.shape[1:] != shape):
        raise ValueError(
            f"split {name!r}: squared_error takes real targets of the shape of the outputs, {(len(y), *shape)}, "
            f"got {y.dtype} of shape {y.shape}"
        )
    if ours == "cross_entropy":
        _check_labels(name, y, shape)


def _check_labels(name: str, y: Array | np.ndarray, shape: tuple[int, ...]) -> None:
    if not jnp.issubdtype(y.dtype, jnp.integer):
        raise ValueError(f"split {name!r}: cross_entropy takes integer class labels, got {y.dtype}")
    if y.shape[1:] != shape[:-1]:
        raise ValueError(
            f"split {name!r}: cross_entropy takes class labels, one for each vector of outputs, got shape {y.shape}"
        )
    if not isinstance(y, Tracer):
        low, high = np.min(np.asarray(y)), np.max(np.asarray(y))
        if low < 0 or high >= shape[-1]:
            raise ValueError(
                f"split {name!r}: labels must lie between 0 and {shape[-1] - 1}, the last of the model's outputs, "
                f"got {low} to {high}"
            )
