"""Tangent kernels of trained networks, and how far they have moved."""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from iterlin import empirical_ntk, functional
from iterlin._similarity import kernel_alignment, kernel_distance
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.runs.splits import read_data
from iterlin_lab.runs.training import initial, keys


def movement(task: tuple[Path, int, Recipe, Path]) -> dict[str, float]:
    """For the run of a recipe, in its folder: the network's NTK at the end beside that at initialisation.

    The distance of the two, the alignment of each with the labels, on so many training inputs; NaN if the run diverged.
    """
    data, num_examples, recipe, folder = task
    split_key, init_key, _ = keys(recipe.seed, recipe.run)
    (model, _), splits, _ = initial(recipe.net, recipe.sizes, read_data(data), split_key, init_key)
    x, y = (part[:num_examples] for part in splits["train"])
    first, last = (traced_ntk(network, x) for network in (model, load(folder / "model.eqx").model))
    same_class = (y[:, None] == y[None]).astype(x.dtype)  # the kernel of one-hot labels
    found = {
        "kernel_distance": kernel_distance(first, last),
        "alignment": kernel_alignment(last, same_class),
        "initial_alignment": kernel_alignment(first, same_class),
    }
    return {name: float(value) for name, value in found.items()}


def traced_ntk(model: Any, x: jax.Array) -> jax.Array:
    """Σ_o Θ(x, x)_{·o·o}, of shape (n, n)."""
    params, fn = functional(model)
    return jax.numpy.asarray(np.trace(empirical_ntk(fn, params, x), axis1=1, axis2=3))
