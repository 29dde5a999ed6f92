"""When and where a cell's runs trained: known for cells that were trained here, from the logs beside their results."""

from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.runs.results import origin
from iterlin_lab.runs.runlog import NAME, read

MACHINE = ("device", "processor", "cores", "jax")


class Training(NamedTuple):
    """One run's training: its machine, when it began, and the times of its records, in seconds since 1970."""

    machine: dict[str, Any]
    start: float
    times: list[float]
    num_steps: int

    @property
    def end(self) -> float:
        return self.times[-1]

    def metrics(self) -> dict[str, float]:
        """Seconds, and steps a second; compiling is part of it."""
        seconds = self.end - self.start
        return {"time/training_seconds": seconds, "time/steps_per_second": self.num_steps / seconds}


def trainings(cell: Path) -> dict[int, Training]:
    """The trainings of a cell's runs, by run; none for a cell that came from DVC's cache or another machine."""
    found = {}
    for folder in origin(cell):
        if (folder / NAME).exists():
            head, records = read(folder)
            times = [head["started"] + record["seconds"] for record in records]
            machine = {name: head[name] for name in MACHINE if name in head}
            found[head["run"]] = Training(machine, head["started"], times, records[-1]["step"])
    return found
