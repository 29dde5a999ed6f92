"""The process behind `iterlin_lab.runs.live`: once training has taken minutes, it shows the logs of its runs."""

import os
import select
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.mlflow import place
from iterlin_lab.report.names import typeset
from iterlin_lab.runs.runlog import NAME, read
from iterlin_lab.runs.store import SCRATCH, TRAINING

# Seconds of training before anything is shown, which takes a part of a processor. ITERLIN_LIVE_AFTER overrides it.
AFTER = 180.0
EVERY = 10.0  # seconds between two looks
SHOWN = ("network_test_accuracy", "proxy_test_accuracy", "network_train_loss", "feature_updates")


class Log(NamedTuple):
    """What is known of a run of the stage."""

    trained: bool
    head: dict[str, Any]
    records: list[dict[str, Any]]


def logs(stage: str, since: float) -> Iterator[Log]:
    """The runs of the stage that have trained since then, in the order in which they began."""
    found = []
    for path in [*TRAINING.glob(f"*/*/{NAME}"), *SCRATCH.glob(f"*/{NAME}")]:
        try:
            if (changed := path.stat().st_mtime) >= since:
                found.append(Log(path.is_relative_to(SCRATCH), *_read(path.parent, changed)))
        except (FileNotFoundError, ValueError):  # it was moved this moment, or has no line yet: the next look finds it
            continue
    yield from sorted((log for log in found if log.head["stage"] == stage), key=lambda log: log.head["started"])


@lru_cache(maxsize=1024)
def _read(folder: Path, changed: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The log as it was after a change; most logs are looked at many times after their last."""
    return read(folder)


class LiveRun:
    """A run in MLflow for a stage while it trains, and in it one for each of its runs, with curves named as at the end.

    `iterlin sync` puts the finished cells in their place.
    """

    def __init__(self, stage: str, name: str, since: float):
        from iterlin_lab.mlflow.pages import page  # mlflow takes seconds to import

        self._stage, self._since, self._name = stage, since, typeset(name)
        self._tags = {"level": "live", "stage": stage}
        self._shown: dict[str, tuple[str, int]] = {}  # by log, its run in MLflow, and how many records are there
        scale, experiment = stage.partition("@")[2].split("-")[:2]
        with place.alone():
            self._store = page(scale, EXPERIMENTS[experiment])
            self._store.clear(self._tags)  # what an attempt before has left
            self._run = self._store.create(f"{self._name} (live)", self._tags, since)
            place.forget()  # so that `sync` looks, and takes this run away

    def update(self) -> None:
        """Write the records that are new, and how many runs train and have trained."""
        from iterlin_lab.mlflow.metrics import scalars

        counts, cells = {"runs/training": 0, "runs/trained": 0}, Counter()
        for log in logs(self._stage, self._since):
            counts["runs/trained" if log.trained else "runs/training"] += 1
            number = log.head["run"]
            cells[number] += 1  # the cells of a stage have the same numbers of runs, and train one after another
            label = f"run {number}" if cells[number] == 1 else f"run {number} of cell {cells[number]}"
            self._update(log, f"{self._name}, {label} (live)")
        self._store.log(self._run, scalars(counts, time.time()))

    def _update(self, log: Log, name: str) -> None:
        from iterlin_lab.mlflow.metrics import axis, metric, readable

        key, metrics = str(log.head), []
        if key not in self._shown:
            self._shown[key] = self._store.create(name, self._tags, log.head["started"], self._run), 0
        run, written = self._shown[key]
        for record in log.records[written:]:
            seconds, step = log.head["started"] + record["seconds"], int(record["step"])
            metrics += axis(step, seconds)
            for column in SHOWN:
                metrics += metric(readable(column), record[column], seconds, step)
        if metrics:
            self._store.log(run, metrics)
        self._shown[key] = run, len(log.records)

    def end(self, status: str) -> None:
        """There is nothing more to come."""
        for run in (self._run, *(run for run, _ in self._shown.values())):
            self._store.finish(run, time.time(), status)


def word(seconds: float) -> str | None:
    """What the stage says within that time: a line when it has trained, "" when it has gone, or nothing."""
    return sys.stdin.readline() if select.select([sys.stdin], [], [], seconds)[0] else None


def main(name: str, since: str) -> None:
    """Show the stage until it says that it has trained. A server that is down is asked again at each look.

    Where an earlier stage of the pipeline has met a failure at that address, nothing is shown.
    """
    stage = os.environ["DVC_STAGE"]
    said = word(float(os.environ.get("ITERLIN_LIVE_AFTER", AFTER)))
    if said is not None or place.failed_before():
        return
    place.prepare_mlflow()
    run, warned = None, False
    while said is None:
        said = word(EVERY if run or warned else 0)
        try:
            run = run or LiveRun(stage, name, float(since))
            run.update()
            if said is not None:
                run.end("FINISHED" if said else "KILLED")
        except Exception as error:
            if not warned:
                place.warn(f"{stage} is not shown in MLflow at {place.uri()} while it trains", error)
            warned = True


if __name__ == "__main__":
    main(*sys.argv[1:])
