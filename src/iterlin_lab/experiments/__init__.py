"""All experiments: one folder each. Whatever lists them derives the list from here."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from iterlin_lab.experiments.experiment import Experiment as Experiment

_FOLDERS = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
_ALL: list[Experiment] = [import_module(f"{__name__}.{name}").EXPERIMENT for name in _FOLDERS]
EXPERIMENTS = {experiment.name: experiment for experiment in sorted(_ALL, key=lambda experiment: experiment.order)}


def chosen(scale: Any) -> list[Experiment]:
    """The experiments that params.yaml does not leave out, in the order of the report."""
    names = {name for names in scale.experiments.values() for name in names}
    return [experiment for experiment in EXPERIMENTS.values() if experiment.name in names]
