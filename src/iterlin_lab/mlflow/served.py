"""What MLflow calls to load and use a model of ours: class probabilities of raw images, by the network of one run.

A logged model names this module and brings no code along, so that loading one executes this package and nothing else.
"""

from functools import cache
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from iterlin_lab.nets.shared.saved import load, predict


class Networks:
    """The trained networks of a cell."""

    def __init__(self, folder: Path):
        self._load = cache(lambda run: load(folder / f"{run}.eqx"))

    def predict(self, images: np.ndarray, params: dict[str, Any] | None = None) -> np.ndarray:
        """Probabilities (n, classes) of images (n, height, width, channels), by the network of `params["run"]`.

        **Raises**: `FileNotFoundError` if the cell has no such run.
        """
        saved = self._load(int((params or {}).get("run", 0)))
        return np.asarray(predict(saved, jnp.asarray(images)))


def _load_pyfunc(path: str) -> Networks:
    """MLflow's name for the function that loads a model."""
    return Networks(Path(path))
