"""Whether the networks of params.yaml keep the contract (`nets.contract`): traced, and nothing of them is computed."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from iterlin import BatchModel
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments import chosen
from iterlin_lab.experiments.experiment import Built
from iterlin_lab.nets.contract import PARTS
from iterlin_lab.nets.shared.build import build_with_state
from iterlin_lab.settings.shared import Data, Shared


class Breach(Exception):
    """What is wrong with a network, in words that follow its name."""


def check_networks(scale: Any) -> None:
    """Trace every network, on all kinds of examples that it is to take.

    **Raises**: `SystemExit` with one line that names the network, what it lacks, and which experiment needs that.
    """
    made = {}
    for built, part, why in _questions(scale):
        try:
            if (place := (built.key, built.input_shape)) not in made:
                made[place] = _made(built)
            if part:
                _check_part(built, part, made[place])
        except Breach as breach:
            sys.exit(f"params.yaml: scale.{built.key}: the network {built.net['name']} {breach}{why}")


def _questions(scale: Any) -> Iterator[tuple[Built, str, str]]:
    """Each network, the part of it that is asked for besides its outputs, and who asks."""
    yield _on(scale, scale.data), "", ""
    for experiment in chosen(scale):
        why = f", and {experiment.name} needs that: leave it out of experiments, or take another network"
        if experiment.own_data:
            yield _on(scale, getattr(scale, experiment.name).data), "", why
        if experiment.network:
            yield experiment.network(experiment.of(scale)), "", ""
        for part in experiment.needs:
            yield _on(scale, scale.data), part, why


def _on(scale: Shared, data: Data) -> Built:
    known = DATA_SETS[data.name]
    return Built("net", scale.net.model_dump(), known.image_shape, known.num_classes)


def _made(built: Built) -> Any:
    """The network as shapes, which takes an example and makes its outputs."""
    num_outputs, example = built.num_outputs, _example(built)
    make = partial(build_with_state, **built.net, input_shape=built.input_shape, num_classes=num_outputs)
    model, state = _traced("cannot be built", make, key=jax.random.key(0))
    if built.key == "net" and isinstance(model, BatchModel):
        raise Breach("knows its batch, and all that experiments measure of net takes one example by itself")
    outputs = _traced(f"cannot take an example of shape {example.shape}", _outputs, model, state, example)
    if getattr(outputs, "shape", None) != (num_outputs,):
        raise Breach(f"must make {num_outputs} outputs of an example of shape {example.shape}, not {_words(outputs)}")
    return model


def _check_part(built: Built, part: str, model: Any) -> None:
    if part not in dir(model):
        raise Breach(f"has no {part} ({PARTS[part]})")
    (read, fits), example = READ[part], _example(built)
    found = _traced(f"has {part} that cannot be read", read, model, example)
    if not fits(found, model, example):
        raise Breach(f"must have as {part} {PARTS[part]}, not {_words(found)}")


def _example(built: Built) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(built.input_shape, jnp.result_type(float))


def _outputs(model: Any, state: Any, x: jax.Array) -> Any:
    """What the network makes of an example, for a network that knows its batch of one that consists of it."""
    if isinstance(model, BatchModel):
        outputs, _ = model(x[None], state, jax.random.key(0) if model.random else None)
        return outputs[0]
    return model(x)


def _traced(what: str, function: Callable, *arguments: Any, **settings: Any) -> Any:
    try:
        return eqx.filter_eval_shape(function, *arguments, **settings)
    except (AttributeError, TypeError, ValueError) as error:  # of the network's own code
        raise Breach(f"{what}: {' '.join(str(error).split())}") from error


def _words(found: Any) -> str:
    return " ".join(eqx.tree_pformat(found, struct_as_array=True).split())[:200]


def _shapes(tree: Any) -> list[tuple[int, ...]]:
    return sorted(leaf.shape for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.ShapeDtypeStruct))


# How a part is read, and whether what is found is what the contract says.
READ: dict[str, tuple[Callable, Callable]] = {
    "filters": (
        lambda model, x: model.filters,
        lambda found, model, x: len(getattr(found, "shape", ())) == len(x.shape) + 1,
    ),
    "parts": (
        lambda model, x: model.parts,
        lambda found, model, x: isinstance(found, tuple) and len(found) == 3 and _shapes(found) == _shapes(model),
    ),
    "activations": (
        lambda model, x: model.activations(x),
        lambda found, model, x: isinstance(found, list) and [hasattr(a, "shape") for a in found] == [True, True],
    ),
}
