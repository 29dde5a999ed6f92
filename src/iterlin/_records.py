"""What is measured during training, and at which steps: pure functions."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._blocks import in_chunks, num_examples, rows
from iterlin._expanded import Expanded
from iterlin._lazy import Lazy
from iterlin._linearise import Linearised, recomputed, stateless
from iterlin._losses import Loss, accuracy

Splits = Mapping[str, tuple[PyTree[Array], PyTree[Array]]]
Data = Mapping[str, tuple[PyTree[Array | np.ndarray], PyTree[Array | np.ndarray]]]


class Moment(NamedTuple):
    """A run at a record: its network at θ, and f_lin with its θ_s, where `linearised.fn(params, x)` is f(θ, x)."""

    step: int
    model: Any
    params: PyTree[Array]
    linearised: Linearised | Expanded


class RecordAt(NamedTuple):
    """What is measured besides the standard values: `function` maps a moment of the run to numbers by name.

    It is called at the first record at or after each of `steps`, on the host, and its numbers enter that record.
    """

    steps: Sequence[int]
    function: Callable[[Moment], Mapping[str, float | Array]]


def log_spaced_steps(num_steps: int, per_decade: int, first: int = 1) -> list[int]:
    """Distinct steps, 0 and `num_steps` included; from `first` on, at most `per_decade` of them in each decade."""
    exponents = np.arange(np.log10(max(num_steps / first, 1)) * per_decade + 1) / per_decade
    steps = {int(step) for step in np.round(first * 10**exponents) if step < num_steps}
    return sorted({0, *steps, num_steps})


def measure(
    linearised: Linearised | Expanded,
    loss: Loss,
    params: PyTree[Array],
    origin: PyTree[Array],
    splits: Splits,
    damping: Float[Array, ""],
    train: str,
) -> dict[str, Float[Array, ""]]:
    """The network f and its linear proxy f_lin at θ, on every split.

    `origin` is θ_0. Accuracy is measured where targets are class labels, one for each vector of outputs. The
    linearisation error is the root mean square of f − f_lin over the outputs on the split named `train`.

    The certificate is ‖g‖/‖g_s‖, with the gradients at θ and at θ_s of the lazy problem on all of that split: how well
    it is solved, whichever solver has done it (r_t of T Algorithm 2).
    """
    values = {
        "distance_init": optax.tree.norm(optax.tree.sub(params, origin)),
        "distance_phase": optax.tree.norm(optax.tree.sub(params, linearised.params0)),
        "certificate": _certificate(linearised, loss, params, *splits[train], damping),
    }
    # All splits in one evaluation: a program for each would take three times as long to compile.
    ends = list(itertools.accumulate(num_examples(x) for x, _ in splits.values()))
    outputs = in_chunks(
        lambda x: {"network": linearised.fn(params, x), "proxy": linearised(params, x)},
        jax.tree.map(lambda *parts: jnp.concatenate(parts), *(x for x, _ in splits.values())),
    )
    for (split, (_, y)), start, end in zip(splits.items(), [0, *ends], ends, strict=False):
        of_split = {model: rows(f, slice(start, end)) for model, f in outputs.items()}
        for model, f in of_split.items():
            values[f"{model}_{split}_loss"] = loss(f, y)
            if _classes(f, y):
                values[f"{model}_{split}_accuracy"] = accuracy(f, y)
        if split == train:
            residual = optax.tree.sub(of_split["network"], of_split["proxy"])
            values["linearisation_error"] = jnp.sqrt(_mean_square(residual))
    return values


def _classes(outputs: PyTree[Array], targets: PyTree[Array]) -> bool:
    """Whether the targets are class labels, one for each vector of outputs."""
    if not (eqx.is_array(outputs) and eqx.is_array(targets)):
        return False
    return jnp.issubdtype(targets.dtype, jnp.integer) and targets.shape == outputs.shape[:-1]


def _mean_square(tree: PyTree[Array]) -> Float[Array, ""]:
    return optax.tree.norm(tree, squared=True) / optax.tree.size(tree)


def _certificate(
    linearised: Linearised | Expanded,
    loss: Loss,
    params: PyTree[Array],
    x: PyTree[Array],
    y: PyTree[Array],
    damping: Float[Array, ""],
) -> Float[Array, ""]:
    lazy = Lazy(linearised, linearised.params0, stateless(recomputed(linearised, x)), x, y, loss, damping)
    norm, initial_norm = (optax.tree.norm(lazy.gradient(at)) for at in (params, linearised.params0))
    return norm / jnp.maximum(initial_norm, jnp.finfo(norm.dtype).tiny)
