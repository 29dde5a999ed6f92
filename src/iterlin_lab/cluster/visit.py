"""What a job runs on a node that shares nothing with the head but a remote of DVC: a task, in a clone of the commit."""

import shutil
import sys
from pathlib import Path

from iterlin_lab.cluster.arrays import ENDED, LOG, REASON, read
from iterlin_lab.cluster.elsewhere import LOCK, dvc
from iterlin_lab.cluster.exchange import Exchange
from iterlin_lab.cluster.node import reasoned, run
from iterlin_lab.cluster.tasks import kept_in, needs, reads
from iterlin_lab.config import scale_of
from iterlin_lab.runs.store import TRAINING


def main() -> None:
    """Do a task of an array that the head has put into the remote."""
    exchange, folder, number = Exchange(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    exchange.fetch(f"{folder.name}/array", folder)
    shutil.copyfile(folder / LOCK, LOCK)
    try:
        with reasoned(folder, number):
            _do(exchange, folder, number)
    finally:
        for name in (LOG.format(number), REASON.format(number), ENDED.format(number)):
            if (folder / name).exists():
                exchange.send_file(folder / name, f"{folder.name}/ended/{name}")


def _do(exchange: Exchange, folder: Path, number: int) -> None:
    """Fetch what the task reads, and what an earlier job has left of it; do it; send what it has trained."""
    settings, held = read(folder)
    scale, task = scale_of(settings), held[number]
    progress = f"training/{task.key}"
    dvc("pull", exchange.remote, set(reads(task, scale)))
    exchange.fetch_runs(needs(task, scale))
    exchange.fetch(progress, TRAINING)
    entries = kept_in(task, scale)

    def stopped() -> None:
        exchange.send_runs(entries)
        exchange.send(TRAINING, progress)

    run(folder, number, first=stopped)
    exchange.send_runs(entries)
    exchange.forget(progress)


if __name__ == "__main__":
    main()
