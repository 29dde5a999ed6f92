"""The networks of params.yaml, a folder each (`contract`). Whatever lists them derives the list from here.

What they share is in `shared`.
"""

from functools import reduce
from importlib import import_module
from operator import or_
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from iterlin_lab.nets.contract import Network

# `shared` has no `__init__.py`, and so is not among them.
_FOLDERS = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
NETS: dict[str, type[Network]] = {name: import_module(f"{__name__}.{name}").Settings for name in _FOLDERS}

if TYPE_CHECKING:
    AnyNetwork = Network
else:
    AnyNetwork = Annotated[reduce(or_, NETS.values()), Field(discriminator="name")]


def module(name: str) -> Any:
    """The equinox module of the network that params.yaml calls so, which imports jax."""
    return import_module(f"{NETS[name].__module__}.module").MODULE
