"""Trained networks in files that describe themselves: a line of JSON, parameters and state, and a digest of all."""

import hashlib
import io
import json
import math
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from iterlin import BatchModel
from iterlin_lab.nets import NETS
from iterlin_lab.nets.shared.build import build_with_state

DIGEST = 32  # bytes of SHA-256
FLOATS = np.float32, np.float64  # a network that was trained in one of them is read in that of jax


class Saved(NamedTuple):
    """A network, the arguments of `build` and what its inputs were standardised with, and its state if it has one."""

    model: Any
    description: dict[str, Any]
    state: Any


def save(path: Path, model: Any, description: dict[str, Any], state: Any = None) -> None:
    """Write a network. `description` has the arguments of `build`, under `net`, and the `mean` and `deviation` that
    its inputs were standardised with. `state` is what it is measured with, for a network that knows its batch.
    """
    file = io.BytesIO((json.dumps(description) + "\n").encode())
    file.seek(0, io.SEEK_END)
    eqx.tree_serialise_leaves(file, eqx.filter((model, state), eqx.is_array))
    path.write_bytes(file.getvalue() + hashlib.sha256(file.getvalue()).digest())


def load(path: Path) -> Saved:
    """What `save` has written. Nothing in the file is executed, and nothing larger than the file is allocated.

    **Raises**: `ValueError` naming the file, if it is not one that `save` has written, or is damaged.
    """
    content = path.read_bytes()
    if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
        raise ValueError(f"{path} is not a saved network, or is damaged: its digest does not belong to its content")
    try:
        return _parsed(io.BytesIO(content[:-DIGEST]), len(content))
    except Exception as error:  # a crafted description makes JSON and the network's own code fail in many ways
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"{path} is not a saved network: {reason}") from error


def _parsed(file: io.BytesIO, size: int) -> Saved:
    description = json.loads(file.readline())
    if not 0 < description["deviation"] < math.inf or not math.isfinite(description["mean"]):
        raise ValueError(f"no images have mean {description['mean']} and deviation {description['deviation']}")
    net = description["net"] | {"input_shape": tuple(description["net"]["input_shape"])}
    _check_size(net, size)
    empty = eqx.filter_eval_shape(build_with_state, **net, key=jax.random.key(0))
    model, state = jax.tree.map(partial(_array, file), empty)
    if file.read(1):
        raise ValueError("there is more in it than its description asks for")
    return Saved(model, description, state)


def _check_size(net: dict[str, Any], size: int) -> None:
    """No width is larger than the file is in bytes, and no depth than the number of arrays that fit into it."""
    for number in jax.tree.leaves(net):
        if isinstance(number, int | float) and not 0 <= number <= size:
            raise ValueError(f"its description asks for more than its {size} bytes hold: {number}")
    settings = {name: value for name, value in net.items() if name not in ("input_shape", "num_classes")}
    layers = NETS[net["name"]].model_validate(settings).num_layers
    if layers * np.lib.format.ARRAY_ALIGN > size:
        raise ValueError(f"its description asks for more than its {size} bytes hold: {layers} layers")


def _array(file: io.BytesIO, leaf: Any) -> Any:
    """The next array, read by its header alone: `np.load` allocates what the header says, however little follows."""
    if not isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array is not in format 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    same = (dtype in FLOATS and leaf.dtype in FLOATS) or dtype == leaf.dtype
    if not same or (shape, fortran) != (leaf.shape, False):
        raise ValueError(f"an array is {dtype} of shape {shape} where the description asks for {leaf}")
    start, end = file.tell(), file.tell() + math.prod(shape) * dtype.itemsize
    content = file.getbuffer()[start:end]
    if file.seek(end) > file.getbuffer().nbytes:
        raise ValueError("it ends within an array")
    return jax.numpy.asarray(np.frombuffer(content, dtype).reshape(shape))


def predict(saved: Saved, images: Float[Array, "n ..."]) -> Float[Array, "n classes"]:
    """Class probabilities of images as the data set has them, (n, height, width, channels)."""
    x = (images - saved.description["mean"]) / saved.description["deviation"]
    if isinstance(saved.model, BatchModel):
        return jax.nn.softmax(saved.model.inference(x, saved.state))
    return jax.nn.softmax(jax.vmap(saved.model)(x))
