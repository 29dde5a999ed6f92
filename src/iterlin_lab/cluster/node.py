"""What a job runs on a node that shares the folder: one task of an array. It needs neither DVC, nor MLflow, nor git."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from iterlin_lab.cluster.arrays import ENDED, REASON, read, require_libraries
from iterlin_lab.cluster.tasks import do
from iterlin_lab.config import scale_of
from iterlin_lab.runs.stopping import explain_failures, stop_with_a_word
from iterlin_lab.runs.workers import num_processes, prepare_jax


def main() -> None:
    """Do the task of this number in the array of this folder."""
    run(Path(sys.argv[1]), int(sys.argv[2]))


def run(folder: Path, number: int, first: Callable[[], None] = lambda: None) -> None:
    """Do a task of an array; `first` is called where the job is stopped."""
    settings, tasks = read(folder)
    scale, task = scale_of(settings), tasks[number]
    stop_with_a_word(task.title, first)
    explain_failures(task.title)
    if num_processes() > 1:
        os.environ["ITERLIN_WORKERS"] = "1"  # a run has all of them
    elif processors := os.environ.get("SLURM_CPUS_PER_TASK"):
        os.environ["ITERLIN_WORKERS"] = str(max(1, int(processors) // scale.threads))
    prepare_jax(scale)
    print(f"{task.title} on {os.environ.get('SLURMD_NODENAME', 'this machine')}", flush=True)
    with reasoned(folder, number):
        require_libraries(folder)
        do(task, scale)
    (folder / ENDED.format(number)).touch()


@contextmanager
def reasoned(folder: Path, number: int) -> Iterator[None]:
    """Why the job failed, if it does, is kept in the folder of its array."""
    why = folder / REASON.format(number)
    why.unlink(missing_ok=True)
    try:
        yield
    except BaseException as error:
        with suppress(OSError):  # where the disk is full
            why.write_text(f"{type(error).__name__}: {error}".removeprefix("SystemExit: ").splitlines()[0].rstrip(": "))
        raise


if __name__ == "__main__":
    main()
