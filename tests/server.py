"""A real MLflow server, and a connection to it that can fail."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

from tests.clone import environment


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def mlflow_server(folder: Path) -> Iterator[int]:
    """The port of a server that keeps its runs and artifacts in a folder."""
    port = free_port()
    arguments = f"--host 127.0.0.1 --port {port} --workers 1 --backend-store-uri sqlite:///{folder}/server.db"
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        *arguments.split(),
        "--artifacts-destination",
        str(folder / "a"),
    ]
    env = environment(MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false", MLFLOW_DISABLE_TELEMETRY="true")
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        for _ in range(300):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                break
            time.sleep(0.2)
        yield port
    finally:
        os.killpg(server.pid, 15)  # it has children
        server.wait(10)


class Line(ThreadingTCPServer):
    """Carries requests to a server; after `answers` answers it carries no answer back, and the caller waits."""

    daemon_threads = True
    answers = 0

    def __init__(self, port: int):
        super().__init__(("127.0.0.1", 0), _Call)
        self.port = port
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Call(BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Line)
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.server.port)) as upstream:
            threading.Thread(target=self._carry, args=(self.request, upstream), daemon=True).start()
            while answer := upstream.recv(65536):
                if answer.startswith(b"HTTP/"):  # the rest of an answer may come in any number of pieces
                    self.server.answers -= 1
                if self.server.answers >= 0:
                    self.request.sendall(answer)

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while request := source.recv(65536):
                target.sendall(request)
            target.shutdown(socket.SHUT_WR)
