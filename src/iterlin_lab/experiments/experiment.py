"""What an experiment says of itself. What computes, draws or writes lies in modules of its folder, found by name.

`settings` has its section of params.yaml, `run` its runs, `table` its tables, `figure`, `claims` and `section` what is
drawn, judged and said of these; `operations` counts what it takes on processors beside a device. They are imported when
they are asked for, since jax, pandas and matplotlib are slow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from iterlin_lab.layout import Layout
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.settings.shared import Shared

if TYPE_CHECKING:
    import pandas

    import iterlin_lab.claims.evidence
    import iterlin_lab.report.answer

SMALL = 5e-4  # seconds of a step of networks on one or two inputs; seen are half of that


class Cost(NamedTuple):
    """What a stage whose runs have no recipes costs: it trains `seeds` networks in each of `ways` for up to `steps`.

    `at_once` of the seeds are in one program. `lazy` says that phases are long. `step` is the seconds of a step where
    the network is not the scale's.
    """

    ways: int
    seeds: int
    at_once: int
    steps: int
    lazy: bool = False
    step: float | None = None


class Built(NamedTuple):
    """A network: where params.yaml has its settings, these, the shape of an example, and how many outputs there are."""

    key: str
    net: dict[str, Any]
    input_shape: tuple[int, ...]
    num_outputs: int


class Cell(NamedTuple):
    """Runs that differ in their seed alone: the DVC stage that trains them, the folder of their results, their name."""

    stage: str
    path: Path
    title: str
    recipes: list[Recipe]


@dataclass(frozen=True)
class Experiment:
    """One folder of `iterlin_lab.experiments`.

    Its folder, its section in params.yaml and the folder of its results have its name; `ids` are what the report calls
    it, and `scope` is the part of params.yaml that it may depend on. `stage` of dvc.yaml runs it, and where `split`
    each folder of its results by itself. The report has it at `order`, below the heading of its `argument`
    (`report.arguments`), and its claims at `claims_order` if that is another place; `differs` says why it may not find
    what its source found. Where it trains cells of runs, one is called `label` with the parts of its path. Where it
    computes tables instead, it is `tabled` if its `run` has the `recipes` that it computes them from, or `cost` says
    what these cost. `check-report` compares the tables `compared`. `needs` are the parts of the scale's network that it
    reads (`nets.contract`), and `network` is its own, if it has one. `purpose` is the number that its random keys are
    drawn with, and 0 where it shares the keys of E-SWEEP.
    """

    name: str
    ids: tuple[str, ...]
    scope: type[Shared]
    stage: str
    order: int
    argument: str = ""
    differs: str = ""
    claims_order: int | None = None
    check: Callable[[Any], None] = lambda scale: None
    cost: Callable[[Any], Cost] | None = None
    tabled: bool = False
    label: str | None = None
    group: str = ""
    split: bool = False
    own_data: bool = False
    purpose: int = 0
    compared: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    network: Callable[[Any], Built] | None = None

    @property
    def settings(self) -> Any:
        """The type of its section in params.yaml."""
        return self.scope.model_fields[self.name].annotation

    @property
    def reads(self) -> tuple[str, ...]:
        """The experiments whose settings or results it reads."""
        return tuple(name for name in self.scope.model_fields if name not in {self.name, *Shared.model_fields})

    def of(self, scale: Any) -> Any:
        """The part of the scale that it may depend on."""
        return self.scope.model_construct(**{name: getattr(scale, name) for name in self.scope.model_fields})

    def module(self, name: str) -> ModuleType | None:
        """A module of its folder, if it has it."""
        full = f"{__package__}.{self.name}.{name}"
        return import_module(full) if find_spec(full) else None

    def _part(self, module: str, name: str) -> Any:
        return getattr(self.module(module), name, None)

    def data(self, scale: Shared) -> Path:
        """The data that its runs draw their examples from."""
        layout = Layout(scale.name)
        return layout.data_of(self.name) if self.own_data else layout.data

    def stages(self, scale: Any) -> list[str]:
        """The DVC stages that run it."""
        whole = f"{self.stage}@{scale.name}-{self.name}"
        return list(dict.fromkeys(cell.stage for cell in self.cells(scale))) if self.split else [whole]

    def outputs(self, scale: Any) -> list[Path]:
        """The folders that these write."""
        results = Layout(scale.name).results
        if not self.split:
            return [results / self.name]
        depth = len((results / self.name).parts) + 1
        return list(dict.fromkeys(Path(*cell.path.parts[:depth]) for cell in self.cells(scale)))

    def cells(self, scale: Any) -> list[Cell]:
        """Its cells of training runs, if it has such."""
        if self.label is None:
            return []
        results, found = Layout(scale.name).results / self.name, []
        for name, recipes in self._part("run", "cells")(self.of(scale)).items():
            parts = name.split("/")
            stage = "-".join([f"{self.stage}@{scale.name}", self.name, *(parts[:1] if self.split else [])])
            found.append(Cell(stage, results / name, self.label.format(*parts), recipes))
        return found

    def trained(self, scale: Any) -> list[Cell]:
        """All that it trains by recipes: its cells, or what it computes tables from."""
        if not self.tabled:
            return self.cells(scale)
        (stage,), (folder,) = self.stages(scale), self.outputs(scale)
        found = self._part("run", "recipes")(self.of(scale)).values()
        return [Cell(stage, folder, self.ids[0], recipes) for recipes in found]

    def title(self, parts: list[str]) -> str:
        """What a stage of it is called, by the part of its cells that it trains."""
        return self.group.format(*parts) if self.group else self.ids[0]

    def operations(self, scale: Any) -> float:
        """About how many floating-point operations it takes on processors, where it trains on no device; else 0."""
        counted = self._part("operations", "operations")
        return counted(self.of(scale)) if counted else 0

    def run(self, scale: Any) -> Mapping[str, "pandas.DataFrame"]:
        """Compute its results, where these are tables."""
        return self._part("run", "run")(self.of(scale))

    def tables(self, scale: Any) -> Mapping[str, "pandas.DataFrame"]:
        """The tables that figures, claims and report read."""
        make = self._part("table", "tables")
        return make(self.of(scale), Layout(scale.name)) if make else {}

    def metrics(self, tables: Mapping[str, "pandas.DataFrame"]) -> dict[str, Any]:
        """Numbers for `dvc metrics`."""
        make = self._part("table", "metrics")
        return make(tables) if make else {}

    @property
    def figures(self) -> Mapping[str, Callable]:
        """Functions from tables to figures, by the names of their files."""
        return self._part("figure", "FIGURES") or {}

    @property
    def families(self) -> tuple["iterlin_lab.claims.evidence.Family", ...]:
        """The claims on it, in groups that are corrected for their number."""
        return self._part("claims", "FAMILIES") or ()

    def section(self, scale: Any, tables: Mapping[str, "pandas.DataFrame"]) -> list[str]:
        """What the report says of it."""
        write = self._part("section", "section")
        return [write(self.of(scale), tables)] if write else []

    def answer(
        self, scale: Any, tables: Mapping[str, "pandas.DataFrame"], claims: Mapping[str, dict[str, Any]]
    ) -> list["iterlin_lab.report.answer.Answer"]:
        """What it answers to the question of the report."""
        write = self._part("section", "answer")
        return [write(self.of(scale), tables, claims)] if write else []

    def training(self, scale: Any, regime: dict) -> str:
        """What it adds to the description of training in the report."""
        write = self._part("section", "training")
        return write(self.of(scale), regime) if write else ""
