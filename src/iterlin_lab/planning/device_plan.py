"""How long the experiments may take on a device that is not there: arithmetic alone, on shapes, in seconds.

An evaluation of the gradient takes its operations over a share of the device's rate, or the bytes that it moves over
the same share of its bandwidth, whichever is longer. What runs on processors takes its operations over their rate.
Phases are on the parameters, as `form: auto` takes them on a GPU.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from iterlin._batches import hoist_bytes
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments import chosen
from iterlin_lab.experiments.experiment import Built, Cell, Experiment
from iterlin_lab.planning.bounds import FITTED, Bounds, evaluations, num_records
from iterlin_lab.planning.devices import Device
from iterlin_lab.planning.operations import Operations, count
from iterlin_lab.planning.plan import in_units

SHARE = 0.25  # of the rates in the data sheet: an H100 reached 23 to 27 % in float32 (docs/paper-scale.md)
PROCESSORS = 1e11  # operations a second in float64 of those beside the device
PREALLOCATED = 0.75  # of a device's memory: what XLA takes where it is not told otherwise
MOVED = 2  # times that a pass through the network moves what derivatives keep: it is written and read

ASSUMED = f"""\
This preset was not run on such a device. Assumed are {SHARE:.0%} of its rates and of its bandwidth in the data
sheet, as was measured on an H100, {PROCESSORS:.0e} operations a second of the processors beside it, and as many
evaluations as were seen on digits.
Explicit steps are all counted. With a flow, phases of a given K likely end by {FITTED:.0%} of the step limit,
where the training set is fitted, and at most go on to the limit.
The papers took about 1500 GPU-hours (A, appendix), on RTX 2080 Ti and RTX 3090."""


class Slice(NamedTuple):
    """An experiment: how many networks it trains, on which machine, for how long."""

    name: str
    runs: int
    machine: str
    seconds: Bounds


def slices(scale: Any, device: Device) -> list[Slice]:
    """The experiments of this scale, from the shortest to the longest."""
    counted = _counting()
    found = [_slice(scale, experiment, device, counted) for experiment in chosen(scale)]
    return sorted(found, key=lambda one: one.seconds.likely)


def _counting() -> Callable[[Built], Operations]:
    """`count`, once for each network."""
    counted: dict[str, Operations] = {}

    def of(built: Built) -> Operations:
        key = repr(built._replace(key=""))
        if key not in counted:
            counted[key] = count(built)
        return counted[key]

    return of


def _slice(scale: Any, experiment: Experiment, device: Device, counted: Callable[[Built], Operations]) -> Slice:
    part, name = experiment.of(scale), experiment.name
    if operations := experiment.operations(scale):
        seconds = operations / PROCESSORS
        return Slice(name, 0, "processors", Bounds.exactly(seconds))
    data = getattr(part, name).data if experiment.own_data else scale.data
    step = Step(scale, device, data.name, counted)
    if experiment.cost:
        cost = experiment.cost(part)
        runs = cost.ways * cost.seeds
        if cost.step:
            seconds = runs * cost.steps * cost.step
            return Slice(name, runs, "processors", Bounds.exactly(seconds))
        net = experiment.network(part).net if experiment.network else scale.net.model_dump()
        seconds = runs * cost.steps * step.gradient(net, scale.data.num_train, lazy=cost.lazy, fixed=True)
        return Slice(name, runs, "device", Bounds.exactly(seconds))
    cells = experiment.trained(scale)
    return Slice(name, sum(len(cell.recipes) for cell in cells), "device", Bounds.sum(map(step.cell, cells)))


class Step(NamedTuple):
    """Seconds of evaluations on examples of one data set."""

    scale: Any
    device: Device
    data: str
    counted: Callable[[Built], Operations]

    def cell(self, cell: Cell) -> Bounds:
        """Of all runs of a cell."""
        recipe = cell.recipes[0]
        batch = recipe.training["batch_size"]
        each = self.gradient(recipe.net, batch or recipe.sizes["train"], lazy=recipe.period != 1, fixed=batch is None)
        records = num_records(recipe) * self.record(recipe.net, sum(recipe.sizes.values()))
        return evaluations(recipe).times(each).plus(records).times(len(cell.recipes))

    def gradient(self, net: dict[str, Any], examples: int, *, lazy: bool, fixed: bool) -> float:
        """Of a network or of its linearisation, which a phase keeps where the examples are fixed and it fits."""
        found = self._operations(net)
        if not lazy:
            return self._seconds(found, found.plain * examples)
        kept = hoist_bytes(self.scale.runs_at_once, int(PREALLOCATED * self.device.memory))
        hoists = fixed and self._bytes(found) * examples <= kept
        return self._seconds(found, (found.hoisted if hoists else found.linearised) * examples)

    def record(self, net: dict[str, Any], examples: int) -> float:
        """Of the network and its proxy on all splits, and a gradient."""
        found = self._operations(net)
        return self._seconds(found, (found.forward + found.linearised) * examples)

    def _operations(self, net: dict[str, Any]) -> Operations:
        data = DATA_SETS[self.data]
        return self.counted(Built("net", net, data.image_shape, data.num_classes))

    def _bytes(self, found: Operations) -> float:
        return (8 if self.scale.precision == "float64" else 4) * found.kept  # other precisions are of products alone

    def _seconds(self, found: Operations, operations: float) -> float:
        moved = MOVED * self._bytes(found) * operations / found.forward
        rate = getattr(self.device, self.scale.precision)
        return max(operations / rate, moved / self.device.bandwidth) / SHARE


def table(found: list[Slice], device: Device) -> str:
    """The slices as text, with the sum so far, and what is assumed."""
    from tabulate import tabulate

    lines, so_far = [], Bounds(0, 0)
    for one in found:
        so_far = Bounds.sum(iter([so_far, one.seconds]))
        times = map(_gpu_hours, (*one.seconds, so_far.likely))
        lines.append((one.name, one.runs or "", one.machine, *times))
    lines.append(("all", sum(one.runs for one in found), "", *map(_gpu_hours, so_far), ""))
    names = ("experiment", "runs", "on", "likely", "at most", "likely so far")
    drawn = tabulate(lines, names, colalign=("left", "right", "left", *("right",) * 3), disable_numparse=True)
    return f"{device.title} ({device.source})\n\n{drawn}\n\n{ASSUMED}"


def _gpu_hours(seconds: float) -> str:
    """In hours, by which devices are paid; where these are too many to be read, in other units."""
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 1000 else in_units(hours)
