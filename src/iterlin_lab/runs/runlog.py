"""The log of one training run: its records as they are made, its time and its machine.

It lies beside the run's results in the scratch folder and never enters an output of DVC: neither times nor machines
are results.
"""

import json
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

NAME = "log.jsonl"


class RunLog:
    """Writes a line about the run and its machine, then a line a record with the seconds since the start.

    Of runs that train at once, each has the seconds of all. A run that goes on where another process was stopped keeps
    the times of what that had recorded.
    """

    def __init__(self, folder: Path, run: int, device: str):
        self._path = folder / NAME
        head = {"stage": os.environ.get("DVC_STAGE", ""), "run": run, "started": time.time()} | machine(device)
        try:
            head, records = read(folder)
        except (FileNotFoundError, ValueError):  # there is none, or its first line was cut off
            records = []
        self._known = {record["step"]: record["seconds"] for record in records}
        self._start = time.monotonic()
        self._path.unlink(missing_ok=True)
        self._write(head)

    def __call__(self, record: dict[str, float]) -> None:
        if (seconds := self._known.get(record["step"])) is not None:
            self._start = time.monotonic() - seconds
        self._write({"seconds": round(time.monotonic() - self._start, 3)} | record)

    def _write(self, line: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def machine(device: str) -> dict[str, Any]:
    """What the run computes on."""
    return {
        "device": device,
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "jax": version("jax"),
    }


def read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The line about the run, and its records so far. A last line that is not complete yet is left out."""
    lines = (folder / NAME).read_text().split("\n")[:-1]
    head, *records = map(json.loads, lines)
    return head, records
