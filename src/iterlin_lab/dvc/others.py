"""DVCs that are at work in this folder, by DVC's own list of what they read and write."""

import json
import os
import sys
import time
from collections.abc import Iterator

from iterlin_lab.dvc.cut_off import LOCKS


def wait_for_others() -> None:
    """Wait until no DVC is at work here, and say for which process: with its results busy, another DVC would fail."""
    known = set()
    while others := dict(_at_work()):
        for pid, command in others.items():
            if pid not in known:
                print(f"waiting for process {pid} ({command}), which is at work here", file=sys.stderr, flush=True)
        known |= set(others)
        time.sleep(0.2)


def _at_work() -> Iterator[tuple[int, str]]:
    """The numbers and commands of processes that live. DVC forgets the others itself."""
    try:
        listed = json.loads(LOCKS.read_text())
    except (FileNotFoundError, ValueError):  # there is none yet, or it is being written
        return
    reading = (entry for entries in listed.get("read", {}).values() for entry in entries)
    for entry in (*listed.get("write", {}).values(), *reading):
        if _lives(entry["pid"]):
            yield entry["pid"], entry["cmd"]


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    return True
