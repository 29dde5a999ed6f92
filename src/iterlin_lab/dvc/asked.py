"""Processes with DVC in them, which take one command after another."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

import iterlin_lab.dvc.attached as attached
from iterlin_lab.dvc.forks import Forks
from iterlin_lab.runs.stopping import reap

_RUNNING: set[subprocess.Popen[str]] = set()


class Done(NamedTuple):
    """A command of DVC: its exit status, what was printed, and the seconds that it took."""

    returncode: int
    output: str
    seconds: float

    @property
    def ran(self) -> bool:
        """Whether a stage had to run."""
        return "Running stage" in self.output


@contextmanager
def started(*arguments: str, **settings: Any) -> Iterator[subprocess.Popen[str]]:
    """A DVC that ends with this process."""
    command = (sys.executable, "-m", attached.__name__, *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings) as process:
        _RUNNING.add(process)
        yield process
    _RUNNING.remove(process)


def stop() -> None:
    """End every DVC that runs for us. Its stage ends with it (`iterlin_lab.runs.stopping`)."""
    for process in list(_RUNNING):
        process.terminate()


class Asked:
    """DVCs that any number of threads may ask: as many start as are asked at once, since each takes half a second.

    With `forks`, their stages come from there.
    """

    def __init__(self, forks: Forks | None = None):
        self._forks = forks
        self._idle: list[subprocess.Popen[str]] = []
        self._all = ExitStack()

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._idle:
            process.kill()  # it has nothing to do, and to end by itself takes half a second
        self._all.close()

    def __call__(self, *words: str, **env: str) -> Done:
        """What `dvc` with these words does, in an environment that has these settings too."""
        begin, output, returncode = time.monotonic(), [], None
        process = self._told(json.dumps([env, ["--wait-for-lock", *words]]))
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(attached.END):
                self._idle.append(process)
                returncode = int(line.removeprefix(attached.END))
                break
            output.append(line)
        returncode = process.wait() if returncode is None else returncode
        return Done(returncode, "".join(output), time.monotonic() - begin)

    def _told(self, command: str) -> subprocess.Popen[str]:
        """A DVC that has been told this command. One that was killed while it had nothing to do cannot be."""
        while self._idle:
            if _tell(process := self._idle.pop(), command):
                return process
        process = self._start()
        _tell(process, command)
        return process

    def _start(self) -> subprocess.Popen[str]:
        passed = self._forks.passed if self._forks else {}
        process = self._all.enter_context(started(stdin=subprocess.PIPE, stderr=subprocess.STDOUT, **passed))
        reap(process)
        return process


def _tell(process: subprocess.Popen[str], command: str) -> bool:
    """Whether it could be told: its pipe is closed once it is dead, before `Popen` knows."""
    assert process.stdin is not None
    try:
        print(command, file=process.stdin, flush=True)
    except BrokenPipeError:
        with suppress(BrokenPipeError):  # what it has not read is still in the buffer, and cannot be flushed
            process.stdin.close()
        return False
    return True
