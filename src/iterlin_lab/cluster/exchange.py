"""What the head and nodes that share no folder copy to each other: files in a remote of DVC."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from iterlin_lab.files import whole_folder
from iterlin_lab.runs.store import DIGESTS

RUNS = "runs"  # has a folder for each entry of the store; whatever else there is belongs to an array or a task


class Exchange:
    """The folder `iterlin` in a remote of any kind that DVC knows.

    **Raises**: `SystemExit` with one line if there is no such remote.
    """

    def __init__(self, remote: str):
        from dvc.exceptions import DvcException  # slow to import
        from dvc.repo import Repo

        try:
            with Repo() as repo:
                found = repo.cloud.get_remote(remote)
        except DvcException as error:
            sys.exit(f"cluster.yaml: remote: {error}")
        self.remote, self._fs, self._root = remote, found.fs, found.fs.join(found.path, "iterlin")

    def send_file(self, path: Path, place: str) -> None:
        """Copy a file to a place."""
        target = self._at(place)
        self._fs.makedirs(self._fs.parent(target), exist_ok=True)
        self._fs.put_file(str(path), target)

    def send(self, folder: Path, place: str) -> None:
        """Copy the files below a folder to a place, without those that are gone by then."""
        for path in folder.rglob("*"):
            with suppress(FileNotFoundError, IsADirectoryError):
                self.send_file(path, f"{place}/{path.relative_to(folder).as_posix()}")

    def fetch(self, place: str, folder: Path) -> None:
        """Copy all that is at a place into a folder; nothing if there is nothing."""
        if self._fs.exists(self._at(place)):
            self._fs.get(self._at(place), str(folder))

    def forget(self, place: str) -> None:
        """Remove what is at a place."""
        if self._fs.exists(self._at(place)):
            self._fs.rm(self._at(place), recursive=True)

    def send_runs(self, entries: Iterable[Path]) -> None:
        """Copy there what the store has of these entries, their digests last: an entry that has them is whole."""
        for entry in filter(Path.exists, entries):
            for path in sorted(entry.iterdir(), key=lambda path: path.name == DIGESTS):
                self.send_file(path, f"{RUNS}/{entry.name}/{path.name}")

    def fetch_runs(self, entries: Iterable[Path]) -> None:
        """Copy here what is there of these entries of the store, and is not here."""
        there = self._runs()
        for entry in sorted(entries):
            if entry.name in there and not entry.exists():
                with whole_folder(entry) as folder:
                    self.fetch(f"{RUNS}/{entry.name}", folder)

    def _runs(self) -> set[str]:
        root = self._at(RUNS)
        files = self._fs.find(root) if self._fs.exists(root) else []
        return {self._fs.parts(path)[-2] for path in files if self._fs.parts(path)[-1] == DIGESTS}

    def _at(self, place: str) -> str:
        return self._fs.join(self._root, *place.split("/"))
