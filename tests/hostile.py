"""A tracking server that answers what its caller does not expect."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from uuid import uuid4

Answer = tuple[int, dict[str, str], bytes]  # status, headers, body


@contextmanager
def answering(answer: Callable[[str], Answer]) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that answers each path by `answer`, and the paths that it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(self.path.split("?")[0])
            status, headers, body = answer(asked[-1])
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


JUNK: dict[str, Answer] = {
    "a page": (200, {"Content-Type": "text/html"}, b"<html><script>alert(1)</script></html>"),
    "no JSON": (200, {}, b'{"experiment": '),
    "other JSON": (200, {}, b'[1, {"experiment": [null]}, "x"]'),
    "wrong types": (200, {}, b'{"experiment": {"experiment_id": {"a": []}, "tags": 3}, "runs": "no", "run": 7}'),
    "deep": (200, {}, b"[" * 100_000),
    "long": (200, {}, b'{"experiment": {"name": "' + b"x" * 5_000_000 + b'"}}'),
    "a file": (302, {"Location": "file:///etc/passwd"}, b""),
    "control characters": (500, {}, json.dumps({"error_code": "X", "message": "\x1b[2J\r\nok"}).encode()),
    "nothing": (200, {}, b""),
}


def mlflow_like(run_artifacts: str, model_artifacts: str) -> Callable[[str], Answer]:
    """Answers as MLflow does, with these places for artifacts."""
    name = uuid4().hex  # the client remembers where a run's artifacts go
    info = {"run_id": name, "run_uuid": name, "experiment_id": "1", "status": "RUNNING", "start_time": 1}
    run = {"run": {"info": info | {"artifact_uri": run_artifacts, "lifecycle_stage": "active"}, "data": {}}}
    model = {"model_id": f"m-{name}", "experiment_id": "1", "name": "network", "artifact_uri": model_artifacts}
    times = {"creation_timestamp_ms": 1, "last_updated_timestamp_ms": 1, "status": "LOGGED_MODEL_PENDING"}
    experiment = {"experiment_id": "1", "name": "iterlin/smoke/k_sweep", "artifact_location": run_artifacts}
    version = {"model_version": {"name": "iterlin-smoke", "version": "1", "source": f"models:/m-{name}"}}
    bodies = {
        "/experiments/get-by-name": {"experiment": experiment | {"lifecycle_stage": "active"}},
        "/runs/create": run,
        "/runs/get": run,
        "/runs/update": {"run_info": run["run"]["info"]},
        "/logged-models": {"model": {"info": model | times, "data": {}}},
        "/registered-models/alias": version,
        "/model-versions/create": version,
        f"/logged-models/m-{name}": {"model": {"info": model | times, "data": {}}},
    }

    def answer(path: str) -> Answer:
        return (
            200,
            {"Content-Type": "application/json"},
            json.dumps(bodies.get(path.split("/mlflow", 1)[-1], {})).encode(),
        )

    return answer
