"""Checkpoints of unfinished runs in a folder: the last one, and the one before it in case that is damaged.

A file is the SHA-256 of all that follows it, then NumPy's `.npz` without pickled objects: the leaves of the state in
their order, random keys as their numbers, and the records as JSON.
"""

import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from iterlin._devices import from_first, spans_hosts
from iterlin._fingerprint import as_numbers, is_key
from iterlin._progress import Progress
from iterlin._state import State

LAST, BEFORE = "checkpoint", "checkpoint-before"


class FileCheckpoints:
    """The progress of the runs of one call, in a folder that they have for themselves, which is made if need be.

    Of a run on several hosts the first process alone writes and reads it, and the others go on from where that does.

    **Arguments**: `interval` is the least number of seconds between two checkpoints.
    """

    def __init__(self, folder: str | os.PathLike[str], interval: float = 30.0):
        self._folder = Path(folder)
        self.interval = interval

    def restore(self, like: State) -> Progress | None:
        """The last progress that is whole. What is damaged is said, and passed over."""
        content = self._whole()
        if spans_hosts(like):
            content = from_first(content)
        return _progress(content, like) if content else None

    def _whole(self) -> bytes:
        for name in (LAST, BEFORE):
            path = self._folder / name
            try:
                return _checked(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                print(f"warning: {path}: {error}: going on from an earlier state", file=sys.stderr, flush=True)
        return b""

    def save(self, progress: Progress) -> None:
        """Whole or not at all, even if the power fails."""
        if spans_hosts(progress.state) and jax.process_index() > 0:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        content = _content(progress)
        last, before, new = (self._folder / name for name in (LAST, BEFORE, "new"))
        with new.open("wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
            file.flush()
            os.fsync(file.fileno())
        if last.exists():
            os.replace(last, before)
        os.replace(new, last)


def _content(progress: Progress) -> bytes:
    leaves = jax.device_get([as_numbers(leaf) for leaf in jax.tree.leaves(progress.state)])
    notes = {"records": progress.records, "outcomes": progress.outcomes, "fingerprint": progress.fingerprint}
    file = io.BytesIO()
    np.savez(file, *leaves, notes=np.frombuffer(json.dumps(notes).encode(), np.uint8), allow_pickle=False)
    return file.getvalue()


def _checked(path: Path) -> bytes:
    content = path.read_bytes()
    digest, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError("this checkpoint is damaged")
    return content


def _progress(content: bytes, like: State) -> Progress:
    old, structure = jax.tree.flatten(like)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        notes = json.loads(arrays["notes"].tobytes())
        if len(arrays.files) != len(old) + 1:  # of a run with another state, which its fingerprint tells
            return Progress(like, notes["records"], notes["outcomes"], notes["fingerprint"])
        leaves = [_as(leaf, arrays[f"arr_{i}"]) for i, leaf in enumerate(old)]
    return Progress(jax.tree.unflatten(structure, leaves), notes["records"], notes["outcomes"], notes["fingerprint"])


def _as(like: Any, value: np.ndarray) -> Any:
    if is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(value), impl=jax.random.key_impl(like))
    if isinstance(like, jax.Array):
        return jnp.asarray(value)
    return value if isinstance(like, np.ndarray) else type(like)(value.item())
