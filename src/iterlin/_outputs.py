"""What a model makes of its inputs, found without computing it."""

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PyTree

from iterlin._batch_model import BatchModel
from iterlin._blocks import num_examples


def outputs_of(model: Any, split: str, x: PyTree[Array | np.ndarray], state: Any) -> PyTree[jax.ShapeDtypeStruct]:
    """The outputs for the inputs of a split, as shapes.

    **Raises**: `ValueError` if the model does not take the inputs or the state, or if it loses examples or its state.
    """
    batched = isinstance(model, BatchModel)
    if state is not None and not batched:
        raise ValueError("state: a module that maps one example has none; wrap it in `EquinoxModel`")
    first = 0 if batched else 1  # axis that the model sees
    inputs = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape[first:], array.dtype), x)
    model, state = jax.tree.map(_shape, (model, state))
    leaves, structure = jax.tree.flatten((model, inputs, state))
    try:
        outputs, new = _traced(structure, tuple(leaves))
    except Exception as error:
        what = f"{'a batch' if batched else 'an example'} of shape {jax.tree.map(lambda leaf: leaf.shape, inputs)}"
        raise ValueError(f"split {split!r}: the model cannot take {what}: {error}{_remedy(model, state)}") from error
    _check_outputs(outputs, num_examples(x) if batched else None)
    if batched:
        _check_state(state, new)
        return outputs
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((num_examples(x), *leaf.shape), leaf.dtype), outputs)


def _shape(leaf: Any) -> Any:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if isinstance(leaf, jax.Array | np.ndarray) else leaf


@lru_cache(maxsize=8)  # of runs that train at once, all have the same
def _traced(structure: Any, leaves: tuple[Any, ...]) -> tuple[Any, Any]:
    """The outputs and the state after them."""
    model, x, state = jax.tree.unflatten(structure, leaves)
    if not isinstance(model, BatchModel):
        return eqx.filter_eval_shape(model, x), None
    key = jax.eval_shape(lambda: jax.random.key(0)) if model.random else None
    return eqx.filter_eval_shape(lambda model, *given: model(*given), model, x, state, key)


def _check_outputs(outputs: Any, of_batch: int | None) -> None:
    """Whether there is a vector at least for each example of a batch, or for the one example."""
    least = 1 if of_batch is None else 2
    shapes: list[tuple[int, ...]] = [getattr(leaf, "shape", ()) for leaf in jax.tree.leaves(outputs)]
    if not shapes or any(len(shape) < least for shape in shapes):
        raise ValueError(f"the model must map an example to a vector of outputs, got {outputs}")
    if of_batch is not None and any(shape[0] != of_batch for shape in shapes):
        raise ValueError(f"the model must give outputs for each of the {of_batch} examples of a batch, got {outputs}")


def _check_state(old: Any, new: Any) -> None:
    """Training carries the state from step to step, so it must stay what it is."""
    if jax.tree.structure(old) != jax.tree.structure(new):
        raise ValueError(
            "the state that the model returns is built otherwise than the one that it takes: give `state`, and return "
            "all of it"
        )
    pairs = zip(jax.tree_util.tree_leaves_with_path(old), jax.tree.leaves(new), strict=True)
    for (path, before), after in pairs:
        if (before.shape, before.dtype) != (after.shape, after.dtype):
            raise ValueError(f"the state{jax.tree_util.keystr(path)} goes in as {before} and comes out as {after}")


def _remedy(model: Any, state: Any) -> str:
    """What a layer would need that knows its batch or draws at random."""
    kinds = eqx.nn.StatefulLayer | eqx.nn.Dropout
    layers = jax.tree_util.tree_leaves_with_path(model, is_leaf=lambda node: isinstance(node, kinds))
    for path, layer in layers:
        name = f"; {jax.tree_util.keystr(path)} is a {type(layer).__name__}"
        if isinstance(layer, eqx.nn.StatefulLayer) and state is None and not isinstance(layer, eqx.nn.Sequential):
            return f"{name}, which keeps a state: train `EquinoxModel(model)`, and give `state`"
        if isinstance(layer, eqx.nn.Dropout) and not layer.inference:
            return f"{name}, which draws at random: train `EquinoxModel(model, random=True)`"
    return ""
