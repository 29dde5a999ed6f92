"""Files that are seen whole or not at all, and locks that end with their process."""

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

UNFINISHED = Path(".cache/unfinished")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `path` only once it is complete."""
    with _unfinished(path) as new:
        new.mkdir()
        yield new
        if path.exists():
            os.replace(path, new.with_name("old"))
        os.replace(new, path)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that is never seen half-written."""
    with _unfinished(path) as new:
        new.write_bytes(content)
        os.replace(new, path)


def write_text(path: Path, text: str) -> None:
    """Write a text file that is never seen half-written."""
    write_bytes(path, text.encode())


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Where to write what is to be at `path`: not beside it, where DVC would count what a process that was killed has
    left there as a result. One process at a time writes an output.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = UNFINISHED / hashlib.sha256(str(path).encode()).hexdigest()[:16]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder / "new"
    shutil.rmtree(folder)


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def durable(*files: Path) -> None:
    """Wait until the files are on the disk."""
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())


@contextmanager
def alone(lock: Path, what: str) -> Iterator[None]:
    """Waits while another process holds the lock, which ends with its process, and says so."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            print(f"waiting for process {file.read()}, which has {what}", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def one_of(locks: Iterable[Path]) -> IO[str] | None:
    """The first lock that nobody holds, held until it is closed or this process ends; None if there is none."""
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            return file
    return None


def held(lock: Path) -> bool:
    """Whether a process holds the lock now (`alone`)."""
    if not lock.exists():
        return False
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
