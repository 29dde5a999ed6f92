"""Iterative linearisation: train the first-order Taylor expansion of a network, and re-linearise every K steps.

The public names are those of `iterlin.core`. They are imported at first use, so that a command which computes nothing
does not wait for jax, and a stage can set its threads before jax starts.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iterlin.core import *  # noqa: F403


def __getattr__(name: str):
    core = import_module("iterlin.core")
    if name.startswith("_") or not hasattr(core, name):
        raise AttributeError(f"module 'iterlin' has no attribute {name!r}")
    return getattr(core, name)
