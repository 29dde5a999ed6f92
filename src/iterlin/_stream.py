"""Training on batches that come from outside: data that do not fit into memory."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, PyTree

from iterlin._devices import spread
from iterlin._execution import Fixed, Single
from iterlin._state import State, Stop

Batch = tuple[PyTree[Array | np.ndarray], PyTree[Array | np.ndarray]]
# The first step ↦ the batches (x, y) of this step and of all after it, in their order. A batch follows from its step.
Stream = Callable[[int], Iterator[Batch]]


class Reader:
    """Reads a stream, in order and once as long as steps follow each other; it keeps the batch of one step alone.

    **Raises**: `ValueError` if the stream ends, or yields anything but pairs (x, y) of one shape.
    """

    def __init__(self, stream: Stream):
        self._stream, self._like = stream, None
        self._start(0)

    def at(self, step: int) -> Batch:
        """The batch of a step, which may be asked for again."""
        if step == self._step + 1:
            self._read()
        elif step != self._step:
            self._start(step)
        return self._batch

    def _start(self, step: int) -> None:
        self._step = step - 1
        self._batches = iter(self._stream(step))
        self._read()

    def _read(self) -> None:
        self._batch, self._step = ((), ()), self._step + 1  # two batches need not be there at once
        batch = next(self._batches, None)
        if batch is None:
            raise ValueError(
                f"stream: it ended before the batch of step {self._step}: begin again where the data end, so that "
                "there is a batch for every step"
            )
        if not (isinstance(batch, tuple) and len(batch) == 2):
            raise ValueError(
                f"stream: the batch of step {self._step} must be a pair (x, y), got {type(batch).__name__}"
            )
        like = jax.tree.map(lambda array: (jnp.shape(array), jnp.result_type(array)), batch)
        self._like = self._like or like
        if like != self._like:
            raise ValueError(
                f"stream: the batch of step {self._step} has shapes and types {like}, the first one has {self._like}: "
                "drop the last examples of an epoch that do not fill a batch"
            )
        self._batch = batch


def check_stream(**unused: Any) -> None:
    """Whether none of the settings of data in memory is given with a stream.

    **Raises**: `ValueError` that names the argument.
    """
    remedies = {
        "batch_size": "the batches of a stream have their own size",
        "augment": "change inputs where the stream makes its batches",
        "hoist": "the batches of a stream are new at every step, so no phase can keep its linearisation",
    }
    for name, remedy in remedies.items():
        if unused[name]:
            raise ValueError(f"{name}: {remedy}: leave {name} out")


class Streaming(Single):
    """A run that trains on a stream: every step finds its batch on the device, and no other."""

    def __init__(self, fixed: Fixed, state: State, reader: Reader, mesh: Mesh | None):
        super().__init__(fixed, state, mesh)
        self._reader = reader

    def advance(self, stop: Stop, moving: Sequence[bool]) -> bool:
        """One step towards the next record; false where that is further."""
        x, y = spread("a batch of the stream", self._reader.at(int(self.state.step)), self._mesh)
        here = self._fixed._replace(problem=dataclasses.replace(self._fixed.problem, x=x, y=y))
        return self._towards(dataclasses.replace(stop, budget=1), here)
