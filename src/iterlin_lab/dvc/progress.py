"""A line on a terminal while stages run: what each of them trains, how far it is, and how long all may take yet."""

import shutil
import sys
import time
from collections.abc import Collection, Mapping
from typing import Any

from iterlin_lab.mlflow.live import Log, logs
from iterlin_lab.planning.plan import in_units, measured_hours, work
from iterlin_lab.report.names import number_text, typeset

MINUTE = 1 / 60  # of an hour, the least that is spoken of


class Progress:
    """Of these stages, from now on."""

    def __init__(self, scale: Any, stages: Collection[str]):
        rows = work(scale)
        self._labels = {stage: typeset(row.label) for row in rows for stage in row.stages}
        self._runs = {stage: row.runs for row in rows for stage in row.stages}
        hours = measured_hours(scale, stages)
        self._hours = {stage: hours[stage] for stage in stages if stage in hours}
        self._number = len(stages)
        self._begun = time.time()
        self._since: dict[str, float] = {}  # when each stage was first seen to run

    def show(self, running: Collection[str], ended: Collection[str]) -> None:
        """Put in the place of the line as much of what is to be said as fits."""
        text = f"[{len(ended)}/{self._number}] {self.line(running, ended)}"
        width = shutil.get_terminal_size().columns - 1
        self.clear()
        print(text if len(text) <= width else f"{text[: width - 1]}…", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away, before another one is printed."""
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def line(self, running: Collection[str], ended: Collection[str]) -> str:
        """What is to be said of stages that run, where others have ended."""
        found = {stage: list(logs(stage, self._since.setdefault(stage, time.time()))) for stage in running}
        parts = [self._label(stage) + self._far(stage, found[stage]) for stage in running]
        shares = dict.fromkeys(ended, 1.0) | {stage: self._share(stage, found[stage]) for stage in running}
        return "; ".join(parts) + self._left(shares)

    def _label(self, stage: str) -> str:
        return self._labels.get(stage, stage.partition("@")[0])

    def _far(self, stage: str, found: list[Log]) -> str:
        """Which run it trains, and the step of its last record; runs that are kept from before are not among these."""
        if not found or stage not in self._runs:
            return ""
        steps = [log.records[-1]["step"] for log in found if log.records and not log.trained]
        number = min(len(found), self._runs[stage])
        step = f", step {number_text(float(f'{max(steps):.2g}'))}" if steps else ""
        return f", run {number} of at most {self._runs[stage]}{step}"

    def _share(self, stage: str, found: list[Log]) -> float:
        return sum(log.trained for log in found) / self._runs.get(stage, 1)

    def _left(self, shares: Mapping[str, float]) -> str:
        """By the plan's hours, which so far took longer or less long than planned; nothing where none are known."""
        done = sum(hours * shares.get(stage, 0) for stage, hours in self._hours.items())
        left = sum(self._hours.values()) - done
        passed = (time.time() - self._begun) / 3600
        return f", some {in_units(max(left * passed / done, MINUTE))} left" if done and left else ""
