"""The process behind `iterlin_lab.runs.live`: once training has taken minutes, it shows the logs of its runs."""

import os
import select
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from iterlin_lab.mlflow import place
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
            if path.stat().st_mtime >= since:
                found.append(Log(path.is_relative_to(SCRATCH), *read(path.parent)))
        except (FileNotFoundError, ValueError):  # it was moved this moment, or has no line yet: the next look finds it
            continue
    yield from sorted((log for log in found if log.head["stage"] == stage), key=lambda log: log.head["started"])


class LiveRun:
    """A run in MLflow for all runs of a stage while they train. `iterlin sync` puts the finished cell in its place."""

    def __init__(self, stage: str, name: str, since: float):
        from iterlin_lab.mlflow.store import Store  # mlflow takes seconds to import

        self._stage, self._since = stage, since
        self._written: dict[str, int] = {}  # how many records of a run are in MLflow
        with place.alone():
            self._store = Store()
            tags = {"level": "live", "stage": stage}
            self._store.clear(tags)  # what an attempt before has left
            self._run = self._store.create(f"{name} (live)", tags, since)
            place.forget()  # so that `sync` looks, and takes this run away

    def update(self) -> None:
        """Write the records that are new, and how many runs train and have trained."""
        from iterlin_lab.mlflow.metrics import metric, scalars

        metrics, written, counts = [], dict(self._written), {"runs/training": 0, "runs/trained": 0}
        cells = Counter()
        for log in logs(self._stage, self._since):
            counts["runs/trained" if log.trained else "runs/training"] += 1
            key, run = str(log.head), log.head["run"]
            cells[run] += 1  # the cells of a stage have the same numbers of runs, and train one after another
            label = f"run {run}" if cells[run] == 1 else f"run {run} cell {cells[run]}"
            for record in log.records[written.get(key, 0) :]:
                seconds, step = log.head["started"] + record["seconds"], int(record["step"])
                for name in SHOWN:
                    metrics += metric(f"{name}/{label}", record[name], seconds, step)
            written[key] = len(log.records)
        self._store.log(self._run, [*metrics, *scalars(counts, time.time())])
        self._written = written

    def end(self, status: str) -> None:
        """There is nothing more to come."""
        self._store.finish(self._run, time.time(), status)


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
