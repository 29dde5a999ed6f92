"""What a job runs on a node that shares nothing with the head but a remote of DVC: a task, in a clone of the commit.

Where several processes compute each run, each has a clone, and the first alone has the results.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from iterlin_lab.cluster.arrays import ENDED, LOG, LOG_THERE, REASON, read
from iterlin_lab.cluster.elsewhere import dvc
from iterlin_lab.cluster.exchange import Exchange
from iterlin_lab.cluster.node import reasoned, run
from iterlin_lab.cluster.tasks import Task, kept_in, needs, reads
from iterlin_lab.config import scale_of
from iterlin_lab.dvc.cut_off import LOCK_FILE
from iterlin_lab.runs.store import TRAINING


def main() -> None:
    """Do a task of an array that the head has put into the remote, and remove the clone in which it is done."""
    exchange, folder, number, clone = Exchange(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    leads = os.environ["SLURM_PROCID"] == "0"
    try:
        exchange.fetch(f"{folder.name}/array", folder)
        shutil.copyfile(folder / LOCK_FILE, LOCK_FILE)
        with reasoned(folder, number):
            (_lead if leads else _follow)(exchange, folder, number, clone)
    finally:
        _report(exchange, folder, number, leads)
        _remove(clone)


def _lead(exchange: Exchange, folder: Path, number: int, clone: Path) -> None:
    """Fetch what the task reads, and what an earlier job has left of it; do it; send what it has trained."""
    scale, task = _pulled(exchange, folder, number)
    progress = f"training/{task.key}"
    exchange.fetch_runs(needs(task, scale))
    exchange.fetch(progress, TRAINING)
    entries = kept_in(task, scale)

    def stopped() -> None:
        exchange.send_runs(entries)
        exchange.send(TRAINING, progress)
        _remove(clone)

    run(folder, number, first=stopped)
    exchange.send_runs(entries)
    exchange.forget(progress)


def _follow(exchange: Exchange, folder: Path, number: int, clone: Path) -> None:
    """Compute a share of what the first process trains."""

    def stopped() -> None:
        _remove(clone)
        os._exit(0)  # an error would have srun kill the first, which is sending

    _pulled(exchange, folder, number)
    run(folder, number, first=stopped)


def _pulled(exchange: Exchange, folder: Path, number: int) -> tuple[Any, Task]:
    """The settings and the task, whose data and results are here then."""
    settings, held = read(folder)
    scale, task = scale_of(settings), held[number]
    dvc("pull", exchange.remote, set(reads(task, scale)))
    return scale, task


def _report(exchange: Exchange, folder: Path, number: int, leads: bool) -> None:
    """Send how the task has ended: the first process sends all of it, and whichever has failed the reason."""
    log = LOG_THERE.format(os.environ["SLURM_ARRAY_JOB_ID"], number)
    of_all = {LOG: Path(log), ENDED: folder / ENDED.format(number)} if leads else {}
    for name, path in {REASON: folder / REASON.format(number), **of_all}.items():
        if path.exists():
            exchange.send_file(path, f"{folder.name}/ended/{name.format(number)}")


def _remove(clone: Path) -> None:
    shutil.rmtree(clone, ignore_errors=True)


if __name__ == "__main__":
    main()
