"""Trained networks in files that describe themselves: a line of JSON, then the parameters."""

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from iterlin.nets import build


def save(path: Path, model: Any, description: dict[str, Any]) -> None:
    """Write a network. `description` has the arguments of `build`, under `net`, and the `mean` and `deviation` that
    its inputs were standardised with.
    """
    with path.open("wb") as file:
        file.write((json.dumps(description) + "\n").encode())
        eqx.tree_serialise_leaves(file, model)


def load(path: Path) -> tuple[Any, dict[str, Any]]:
    """The network and its description. Nothing in the file is executed.

    **Raises**: `RuntimeError` if the parameters are not those that the description asks for.
    """
    with path.open("rb") as file:
        description = json.loads(file.readline())
        empty = eqx.filter_eval_shape(build, **description["net"], key=jax.random.key(0))
        return eqx.tree_deserialise_leaves(file, empty), description


def predict(model: Any, description: dict[str, Any], images: Float[Array, "n ..."]) -> Float[Array, "n classes"]:
    """Class probabilities of images as the data set has them, (n, height, width, channels)."""
    x = (images - description["mean"]) / description["deviation"]
    return jax.nn.softmax(jax.vmap(model)(x))
