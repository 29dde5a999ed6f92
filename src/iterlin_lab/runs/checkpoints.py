"""Checkpoints of unfinished runs in a folder: the last one, and the one before it in case that is damaged.

A file is the SHA-256 of all that follows it, then NumPy's `.npz` without pickled objects: the leaves of the state in
their order, and the records as JSON.
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

from iterlin._progress import Progress
from iterlin_lab.files import durable
from iterlin_lab.runs.workers import CHECKPOINT_SECONDS, whole_number

INTERVAL = 30  # seconds
LAST, BEFORE = "checkpoint", "checkpoint-before"


class FileCheckpoints:
    """The progress of runs that train at once, in a folder that they have for themselves."""

    def __init__(self, folder: Path):
        self._folder = folder
        self.interval = float(whole_number(CHECKPOINT_SECONDS, INTERVAL, smallest=0))

    def restore(self, like: Any) -> Progress | None:
        """The last progress that is whole. What is damaged is said, and passed over."""
        for name in (LAST, BEFORE):
            path = self._folder / name
            try:
                return _progress(_checked(path), like)
            except FileNotFoundError:
                continue
            except ValueError as error:
                print(f"warning: {path}: {error}: going on from an earlier state", file=sys.stderr, flush=True)
        return None

    def save(self, progress: Progress) -> None:
        """Whole or not at all, even if the power fails."""
        content = _content(progress)
        last, before, new = (self._folder / name for name in (LAST, BEFORE, "new"))
        new.write_bytes(hashlib.sha256(content).digest() + content)
        durable(new)
        if last.exists():
            os.replace(last, before)
        os.replace(new, last)


def _content(progress: Progress) -> bytes:
    leaves = jax.device_get(jax.tree.leaves(progress.state))
    notes = json.dumps({"records": progress.records, "outcomes": progress.outcomes})
    file = io.BytesIO()
    np.savez(file, *leaves, notes=np.frombuffer(notes.encode(), np.uint8), allow_pickle=False)
    return file.getvalue()


def _checked(path: Path) -> bytes:
    content = path.read_bytes()
    digest, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError("this checkpoint is damaged")
    return content


def _progress(content: bytes, like: Any) -> Progress:
    old, structure = jax.tree.flatten(like)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        notes = json.loads(arrays["notes"].tobytes())
        leaves = [_as(leaf, arrays[f"arr_{i}"]) for i, leaf in enumerate(old)]
    return Progress(jax.tree.unflatten(structure, leaves), notes["records"], notes["outcomes"])


def _as(like: Any, value: np.ndarray) -> Any:
    if isinstance(like, jax.Array):
        return jnp.asarray(value)
    return value if isinstance(like, np.ndarray) else type(like)(value.item())
