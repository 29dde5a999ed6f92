"""The data sets of params.yaml, a file each that has its name. Whatever lists them derives the list from here."""

from importlib import import_module
from pkgutil import iter_modules

from iterlin_lab.data.examples import DataSet

_FILES = sorted(found.name for found in iter_modules(__path__))
DATA_SETS: dict[str, DataSet] = {name: import_module(f"{__name__}.{name}").DATA_SET for name in _FILES}
