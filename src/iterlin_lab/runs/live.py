"""A stage that trains for long is shown in MLflow meanwhile, by a process of its own that reads the logs of its runs.

Training does not wait for that process, and what goes wrong there is a warning. Nothing of it enters a result.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen, TimeoutExpired

from iterlin_lab.runs.stopping import reap

PATIENCE = 10  # seconds for the last look, after training


@contextmanager
def shown_live(name: str) -> Iterator[None]:
    """Around the training of a stage: shows its runs as the run `name` once it has taken long."""
    if "DVC_STAGE" not in os.environ:
        yield
        return
    command = [sys.executable, "-m", "iterlin_lab.mlflow.live", name, str(time.time())]
    with Popen(command, stdin=PIPE, text=True, start_new_session=True) as watcher:
        assert watcher.stdin is not None
        reap(watcher)
        try:
            yield
            watcher.stdin.write("trained\n")  # if it is closed without a word, training has failed
        finally:
            try:
                watcher.communicate(timeout=PATIENCE)
            except TimeoutExpired:
                watcher.kill()
