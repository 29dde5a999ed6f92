"""Parts of a model: which of its arrays are trained, and low-rank adapters of its weights."""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

Where = Callable[[Any], Any]  # from a model to a part of it, or a sequence of parts, as in `eqx.tree_at`


def only(model: Any, where: Where) -> PyTree[bool]:
    """What `trainable=` takes to train some parts of a model: true for the floating-point arrays in them.

    **Arguments**: `where(model)` is a part of the model or a sequence of parts: layers, arrays, or tuples of these. It
    picks them and computes nothing.

    **Raises**: `ValueError` if there is no floating-point array in them, or an array of other numbers is picked itself.
    """
    paths = jax.tree_util.tree_map_with_path(lambda path, _: _name(path), model)
    names, picked = jax.tree.leaves(paths), where(paths)
    chosen = jax.tree.leaves(picked)
    if foreign := [leaf for leaf in chosen if not isinstance(leaf, str) or leaf not in names]:
        given = " ".join(repr(foreign[0]).split())
        raise ValueError(f"where must pick parts of the model, and not compute with them: it gave {given}")
    trained = jax.tree.map(lambda name, leaf: name in chosen and eqx.is_inexact_array(leaf), paths, model)
    alone = picked if isinstance(picked, tuple | list) else [picked]
    for name, leaf in zip(names, jax.tree.leaves(model), strict=True):
        if name in alone and isinstance(leaf, jax.Array | np.ndarray) and not eqx.is_inexact_array(leaf):
            raise ValueError(
                f"the parameter {name} is {leaf.dtype}: floating-point numbers alone are trained, so leave it out or "
                "convert it"
            )
    if not any(jax.tree.leaves(trained)):
        raise ValueError(
            f"the selection ({', '.join(chosen) or 'which is empty'}) has no array of floating-point numbers: pick a "
            "layer, or an array of weights"
        )
    return trained


class Factors(eqx.Module):
    """A matrix BA of rank r that is added to a weight.

    The weight counts as a matrix (out, rest). Its rows are its first axis, or its last one where that takes fewer
    numbers for B and A. So they are the outputs both of `eqx.nn.Linear` and `eqx.nn.Conv2d`, which have them first, and
    of kernels (height, width, in, out), unless a kernel has more pixels than the layer has inputs or outputs.
    """

    B: Float[Array, "out r"]
    A: Float[Array, "r rest"]

    def added(self, weight: Float[Array, "..."]) -> Float[Array, "..."]:
        """W + BA."""
        change, (_, _, last) = self.B @ self.A, _matrix(weight.shape)
        return weight + (change.T if last else change).reshape(weight.shape)


class Adapted(eqx.Module):
    """A model of one example with W + BA in place of some of its weights W (`adapted`).

    `factors` has the structure of the model, with `Factors` for these weights and nothing else.
    """

    model: Any
    factors: Any

    def merged(self) -> Any:
        """The plain model, whose weights are W + BA."""
        return jax.tree.map(lambda leaf, own: leaf if own is None else own.added(leaf), self.model, self.factors)

    def __call__(self, x: Any) -> Any:
        return self.merged()(x)


def adapted(model: Any, where: Where, rank: int, key: Array) -> Adapted:
    """The same function as `model`, with low-rank adapters of the weights that `where` picks (see `only`).

    To each of them a matrix BA is added (LoRA: Hu et al. 2022). B starts at zero, and A with entries N(0, 1/fan-in).
    The factors alone are trained with `trainable=only(model, lambda model: model.factors)`.

    **Raises**: `ValueError` for what `only` refuses, for an array that is no matrix, or a rank that is below 1 or above
    that of such matrices.
    """
    chosen = only(model, where)
    keys = iter(jax.random.split(key, sum(jax.tree.leaves(chosen))))

    def factors(path, leaf, is_chosen):
        return _factors(_name(path), leaf, rank, next(keys)) if is_chosen else None

    return Adapted(model, jax.tree_util.tree_map_with_path(factors, model, chosen))


def _factors(name: str, weight: Any, rank: int, key: Array) -> Factors:
    if weight.ndim < 2:
        raise ValueError(
            f"the parameter {name} of shape {weight.shape} is no matrix and takes no adapter: pick weights alone, as "
            "lambda model: model.layers[0].weight does"
        )
    out, rest, _ = _matrix(weight.shape)
    if not 1 <= rank <= min(out, rest):
        raise ValueError(
            f"the rank of an adapter of {name}, a matrix of {out}×{rest}, must lie between 1 and {min(out, rest)}, "
            f"got {rank}"
        )
    drawn = jax.random.normal(key, (rank, rest), weight.dtype) / math.sqrt(rest)
    return Factors(jnp.zeros((out, rank), weight.dtype), drawn)


def _matrix(shape: tuple[int, ...]) -> tuple[int, int, bool]:
    """The numbers of rows and columns of a weight as a matrix, and whether its last axis makes the rows."""
    first, last = ((out, math.prod(shape) // out) for out in (shape[0], shape[-1]))
    return (*last, True) if sum(last) < sum(first) else (*first, False)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path)
