"""Whether training fits into this machine's memory, and how many runs do side by side. Nothing here imports jax."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from iterlin_lab.files import alone, write_text
from iterlin_lab.runs.workers import num_workers
from iterlin_lab.settings.shared import Shared

ESTIMATES = Path(".cache/estimates")


class Need(NamedTuple):
    """Bytes of a process in memory, and of each of the runs that it trains at once, by what they are for.

    `device` is the memory of an accelerator, if runs are trained on one: the process itself does not lie there.
    `dual` is what the process takes for phases in their dual, one run after another.
    """

    process: int
    parameters: int
    data: int
    linearisation: int
    device: int | None = None
    dual: int = 0

    def group(self, at_once: int) -> int:
        """The bytes of a process with its runs."""
        run = self.parameters + self.data + self.linearisation
        return (0 if self.device else self.process + self.dual) + at_once * run

    def free(self) -> int:
        """Bytes that there are for it."""
        return self.device or available()


def available() -> int:
    """Bytes that a process may take: what is free, or the limit of its container or of `ulimit` if that is lower."""
    return min([_free(), *_cgroup_limits(), *_own_limits()])


def _free() -> int:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        (line,) = (line for line in meminfo.read_text().splitlines() if line.startswith("MemAvailable:"))
        return 1024 * int(line.split()[1])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _cgroup_limits() -> Iterator[int]:
    """The limits of the control group of this process, and of all groups that it lies in."""
    own = Path("/proc/self/cgroup")
    group = own.read_text().strip().splitlines()[-1].split(":")[-1] if own.exists() else "/"
    folders = [Path("/sys/fs/cgroup") / folder.relative_to("/") for folder in (Path(group), *Path(group).parents)]
    files = [folder / "memory.max" for folder in folders] + [Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    return (int(file.read_text()) for file in files if file.exists() and file.read_text().strip().isdigit())


def _own_limits() -> Iterator[int]:
    file = Path("/proc/self/limits")
    lines = file.read_text().splitlines() if file.exists() else []
    soft = (line[26:].split()[0] for line in lines if line.startswith(("Max address space", "Max data size")))
    return (int(limit) for limit in soft if limit.isdigit())


def keep(scale: Shared, need: Need) -> None:
    """Remember what a run needs, from one command to the next."""
    with alone(ESTIMATES / "lock", "the estimates"):
        write_text(_path(scale), json.dumps(need._asdict()))


def known(scale: Shared) -> Need | None:
    """What was kept, if it was."""
    path = _path(scale)
    return Need(**json.loads(path.read_text())) if path.exists() else None


def _path(scale: Shared) -> Path:
    parts = {"data", "net", "training", "threads", "runs_at_once", "precision", "form", "devices"}
    what = scale.model_dump(include=parts)
    return ESTIMATES / f"memory-{hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]}.json"


def limit_workers(scale: Shared) -> None:
    """Let no more processes train side by side than fit, if it is known what they need, and say so in a line.

    No byte depends on it. `ITERLIN_WORKERS` stays as it is where it is set.
    """
    need, workers = known(scale), num_workers(scale.threads)
    if need is None or "ITERLIN_WORKERS" in os.environ:
        return
    each, free = need.group(scale.runs_at_once), need.free()
    fitting = max(1, free // each)
    if fitting < workers:
        os.environ["ITERLIN_WORKERS"] = str(fitting)
        print(f"{fitting} of {workers} training processes at once, of {size(each)} each: there are {size(free)}")


def size(count: float) -> str:
    """Bytes for people."""
    for unit, power in (("TiB", 40), ("GiB", 30)):
        if count >= 2**power:
            return f"{count / 2**power:.1f} {unit}"
    return f"{count / 2**20:.0f} MiB"
