"""The networks of params.yaml, a folder each (`contract`). Whatever lists them derives the list from here.

What they share is in `shared`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.base import one_of

# `shared` has no `__init__.py`, and so is not among them.
_FOLDERS = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
NETS: dict[str, type[Network]] = {name: import_module(f"{__name__}.{name}").Settings for name in _FOLDERS}

if TYPE_CHECKING:
    AnyNetwork = Network
else:
    AnyNetwork = one_of(NETS.values())


def module(name: str) -> Any:
    """The equinox module of the network that params.yaml calls so, which imports jax."""
    return import_module(f"{NETS[name].__module__}.module").MODULE
