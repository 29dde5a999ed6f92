"""How the processes of a stage end before their time: at once, with one line, and without orphans.

Nothing needs to be put in order then: finished runs and checkpoints are kept, and what is half-written is written anew.
"""

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

KEPT = "Finished runs and checkpoints are kept: run the same command again to go on"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def stop_with_a_word(name: str, first: Callable[[], None] = lambda: None) -> None:
    """Ctrl-C and SIGTERM call `first`, and end the process with one line. Its workers see that it is gone."""

    def stop(number: int, frame: object) -> None:
        first()
        os.write(2, f"{name}: stopped by {signal.Signals(number).name}. {KEPT}\n".encode())
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def stop_with_parent() -> None:
    """A stage ends with its DVC, which would take up what it writes, and a DVC with its `iterlin`."""
    parent = os.getppid()

    def gone() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)

    _exit_after(gone)


def begin_worker() -> None:
    """A worker process leaves Ctrl-C to its stage, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stage = multiprocessing.parent_process()
    assert stage is not None
    _exit_after(stage.join)


def _exit_after(event: Callable[[], None]) -> None:
    def watch() -> None:
        event()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def reap(process: subprocess.Popen[str]) -> None:
    """Whenever it ends, also by a kill, nothing of it is left defunct."""
    threading.Thread(target=process.wait, daemon=True).start()


def explain_failures(name: str) -> None:
    """A disk that is full is one line."""

    def explain(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if isinstance(error, OSError) and error.errno in FULL:
            print(f"{name}: {error.strerror}: free some space. {KEPT}", file=sys.stderr)
        else:
            sys.__excepthook__(kind, error, traceback)

    sys.excepthook = explain
