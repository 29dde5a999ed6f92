"""Puts DVC's own files in order after it was killed while it wrote them.

It writes `dvc.lock` and its list of locks in place, so that a kill can cut them off at any byte. The DVC of
`make repro` does so with the list alone (`iterlin_lab.dvc.quick`).
"""

import fcntl
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iterlin_lab.files import write_bytes

LOCK_FILE = Path("dvc.lock")
REPO_LOCK, LOCKS = Path(".dvc/tmp/lock"), Path(".dvc/tmp/rwlock")
HEAD = "schema: '2.0'\nstages:\n"
OUTS = "\n    outs:\n"  # the last part of an entry
# The end of an entry: the last of its outs, which is a file or a folder.
FILE, FOLDER = r"\w{32}\n      size: \d+\n", r"\w{32}\.dir\n      size: \d+\n      nfiles: \d+\n"
END = re.compile(rf"{OUTS}(?:.*\n)*      md5: (?:{FILE}|{FOLDER})\Z")


def repair_files() -> None:
    """Remove a list of locks that was cut off, and complete a `dvc.lock` that was; say so on standard error.

    Nothing is done while a DVC is at work.
    """
    with no_dvc_at_work() as alone:
        if not alone:
            return
        if not _is_json(LOCKS):
            LOCKS.unlink()
            _say(f"{LOCKS} had been cut off, so it was removed")
        if LOCK_FILE.exists() and not is_whole(text := LOCK_FILE.read_text()):
            if content := completed(text, _committed()):
                write_bytes(LOCK_FILE, content.encode())
            else:
                LOCK_FILE.unlink()  # DVC does not start with an empty one
            _say(f"{LOCK_FILE} had been cut off, so what it lacks was taken from the last commit")


def is_whole(text: str) -> bool:
    """Whether a `dvc.lock` ends with the end of an entry."""
    *_, last = ["", *entries(text).values()]
    return END.search(last) is not None


def completed(text: str, committed: str) -> str:
    """The whole entries of a `dvc.lock` that was cut off, and the committed ones of all other stages.

    A stage whose entry is older than its outputs does not train again: they come back from DVC's run cache.
    """
    whole = entries(text)
    if whole:
        whole.popitem()  # DVC was writing it
    return joined(entries(committed) | whole)


def entries(text: str) -> dict[str, str]:
    """The lines of each stage, by the first of them, which has its name."""
    blocks = re.split(r"^(?=  \S)", text.removeprefix(HEAD), flags=re.MULTILINE)
    return {block.split("\n")[0]: block for block in blocks if block.startswith("  ")}


def joined(found: dict[str, str]) -> str:
    """The text of a `dvc.lock` with these entries; nothing if there are none."""
    return "".join([HEAD, *found.values()]) if found else ""


def _committed() -> str:
    return subprocess.run(["git", "show", f"HEAD:./{LOCK_FILE}"], capture_output=True, text=True).stdout


@contextmanager
def no_dvc_at_work() -> Iterator[bool]:
    """Whether no DVC changes anything in this folder, and keep it so."""
    if not REPO_LOCK.exists():  # none was here before
        yield True
        return
    with REPO_LOCK.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text() if path.exists() else "{}")
    except ValueError:
        return False
    return True


def _say(text: str) -> None:
    print(f"mended: {text}. Nothing that was trained is lost", file=sys.stderr, flush=True)
