"""Where MLflow's data are, how long to wait for them, and what is known to be there. Nothing here imports mlflow."""

import fcntl
import hashlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from iterlin_lab.files import write_text
from iterlin_lab.runs.stage import PIPELINE

ROOT = Path(os.environ.get("DVC_ROOT", ".")).resolve()
FOLDER = ROOT / ".cache/mlflow"
DATABASE = ROOT / "mlflow.db"
# A request is not sent again: a server that was only slow would then have two of the same run.
DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_ARTIFACT_UPLOAD_DOWNLOAD_TIMEOUT": "15",
}


def uri() -> str:
    """Where MLflow's data are: `MLFLOW_TRACKING_URI`, or a database in the project's folder."""
    return os.environ.get("MLFLOW_TRACKING_URI", f"sqlite:///{DATABASE}")


def is_server() -> bool:
    """Whether somebody else answers there, rather than a database that is named here."""
    return uri().lower().startswith(("http:", "https:"))


def warn(text: str, error: Exception) -> None:
    """One line about what went wrong, which is noted; what a server says may hold control characters."""
    with suppress(OSError):  # which may be what went wrong
        _failure().write_text(os.environ.get(PIPELINE, ""))
    reason = "".join(c if c.isprintable() else "?" for c in " ".join(str(error).split())[:200])
    print(f"warning: {text} ({reason})", file=sys.stderr, flush=True)


def failed_before() -> bool:
    """Whether something went wrong at this address in the pipeline of this stage, and nothing has gone well since."""
    return _failure().exists() and _failure().read_text() == os.environ.get(PIPELINE)


def prepare_mlflow() -> None:
    """Set, before mlflow is imported, how long it waits, and that it says nothing of its own."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    logging.getLogger("urllib3").setLevel(logging.ERROR)


@contextmanager
def alone() -> Iterator[None]:
    """One process of this project at a time: two would make the same database, or the same run twice."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def known() -> dict[str, str]:
    """What was shown at this address, by `remember`; nothing if the database file is another one now."""
    try:
        noted = json.loads(_note().read_text())
    except FileNotFoundError:
        return {}
    return noted["shown"] if noted["database"] == _database() else {}


def remember(shown: dict[str, str]) -> None:
    """Note what is there, so that the next look need not ask."""
    _failure().unlink(missing_ok=True)
    write_text(_note(), json.dumps({"database": _database(), "shown": shown}, indent=1))


def forget() -> None:
    """Look afresh the next time."""
    _note().unlink(missing_ok=True)


def _note() -> Path:
    return FOLDER / f"{hashlib.sha256(uri().encode()).hexdigest()[:16]}.json"


def _failure() -> Path:
    return _note().with_suffix(".failed")


def _database() -> str | None:
    """Tells an SQLite file from another one of the same name. What a server has, only it can tell."""
    if not uri().startswith("sqlite:///"):
        return "server"
    path = Path(uri().removeprefix("sqlite:///"))
    return f"{path.stat().st_dev} {path.stat().st_ino}" if path.exists() else None
