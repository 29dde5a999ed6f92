"""Stages as forks of one process, which has imported the libraries that they share: a short stage is half imports.

`python -m iterlin_lab.dvc.forks 5 1234` takes orders from a socket with the first number, while the process with the
second one has it as a child. An order has, as JSON, the words of a command that DVC would run as `python ...` in this
folder, and its environment. It comes with three files: where the stage prints, where it complains, and where its exit
status is to be written.

What is imported is nothing of ours, which may be edited meanwhile, nor jax, which reads its settings at once.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

NUMBER = "ITERLIN_FORKS"  # of the socket, for a DVC that may ask
PYTHON = "exec python "  # how the commands start that can be forked
LIBRARIES = (
    "pydantic.fields",
    "ruamel.yaml",
    "jaxtyping",
    "concurrent.futures.process",
    "pandas",
    "scipy.stats",
    "matplotlib.pyplot",
    "markdown_it",
    "mlflow.store.tracking.sqlalchemy_store",
    "mlflow.pyfunc",
)
LONGEST = 2**20  # bytes of an order
LOOK = 0.5  # seconds between two looks for whether `iterlin` is there still


class Forks:
    """Where the DVCs of a pipeline ask for stages. They run them themselves if it cannot be had, as where not Linux."""

    def __init__(self):
        self._ask, self._asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._server: subprocess.Popen | None = None

    @property
    def passed(self) -> dict[str, Any]:
        """What a DVC is started with, so that it may ask."""
        number = self._ask.fileno()
        return {"pass_fds": [number], "env": os.environ | {NUMBER: str(number)}}

    def start(self) -> None:
        """Begin to import, as soon as it is clear that a stage will run."""
        if sys.platform == "linux":
            number = self._asked.fileno()
            command = (sys.executable, "-m", __name__, str(number), str(os.getpid()))
            self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[number])
        self._asked.close()  # what is asked of nobody is refused

    def __enter__(self) -> "Forks":
        return self

    def __exit__(self, *error: object) -> None:
        self._ask.close()
        self._asked.close()
        if self._server:
            self._server.kill()
            self._server.wait()


def use_forks() -> None:
    """Let the DVC of this process run stages so, if it was told where to ask."""
    if NUMBER not in os.environ:
        return
    from dvc.stage import run

    server = socket.socket(fileno=int(os.environ.pop(NUMBER)))
    run._run = _forking(run._run, server)


def _forking(usual: Callable[..., None], server: socket.socket) -> Callable[..., None]:
    """DVC's function that runs a command."""
    from dvc.stage.exceptions import StageCmdFailedError

    def run(executable: str, command: str, **settings: Any) -> None:
        forked = command.startswith(PYTHON) and os.path.samefile(settings["cwd"], os.curdir)
        code = ask(server, command.removeprefix(PYTHON).split(), settings["env"]) if forked else None
        if code is None:
            usual(executable, command, **settings)
        elif code:
            raise StageCmdFailedError(command, code)

    return run


def ask(server: socket.socket, words: list[str], env: dict[str, str]) -> int | None:
    """The exit status of `python` with these words; none if the server is not there, or the stage was left alone."""
    order = json.dumps([words, env]).encode()
    reading, writing = os.pipe()
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a stage says itself that it is stopped
    try:
        with os.fdopen(reading) as status:
            try:
                socket.send_fds(server, [order], [1, 2, writing])
            except OSError:
                return None
            finally:
                os.close(writing)
            said = status.read()
    finally:
        signal.signal(signal.SIGINT, usual)
    return int(said) if said else None


def main() -> None:
    """Fork what is asked for."""
    server, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing of them is left defunct
    left = list(LIBRARIES)
    while os.getppid() == parent:
        if not select.select([server], [], [], 0 if left else LOOK)[0]:
            if left:  # what is asked for meanwhile does not wait for all of them
                with suppress(Exception):  # a stage that needs it says what is wrong
                    import_module(left.pop(0))
                gc.freeze()  # what a collection looks at is shared no more
            continue
        order, files, _, _ = socket.recv_fds(server, LONGEST, 3)
        if _fork() == 0:
            server.close()
            _keep(*json.loads(order), *files)
        for file in files:
            os.close(file)


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pyarrow's jemalloc has a thread, and takes care of forks
        return os.fork()


def _keep(words: list[str], env: dict[str, str], out: int, complaints: int, status: int) -> None:
    """Run a stage in a process of its own, and end with it, or with its DVC: the stage sees that this one is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (stage := _fork()) == 0:
        os.close(status)
        _become(words, env, out, complaints)
    reader = select.poll()
    reader.register(status, 0)
    ended = how = 0
    while not ended:
        if reader.poll(20):
            os._exit(1)
        ended, how = os.waitpid(stage, os.WNOHANG)
    os.write(status, str(os.waitstatus_to_exitcode(how)).encode())
    os._exit(0)


def _become(words: list[str], env: dict[str, str], out: int, complaints: int) -> None:
    """Be the process that `python` with these words would be in this environment."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate((out, complaints), start=1):
        os.dup2(file, number)
        os.close(file)
    for name in [name for name in sys.modules if name.split(".")[0] == "iterlin_lab"]:
        del sys.modules[name]
    os.environ.clear()
    os.environ.update(env)
    sys.argv = words
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)  # to take all libraries apart, which are shared until then, would take a second


if __name__ == "__main__":
    main()
