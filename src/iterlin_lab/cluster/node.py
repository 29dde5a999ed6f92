"""What a job runs: one task of an array. It needs neither DVC, nor MLflow, nor git."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from iterlin_lab.cluster.arrays import ENDED, REASON, read
from iterlin_lab.cluster.tasks import do
from iterlin_lab.config import scale_of
from iterlin_lab.runs.stopping import explain_failures, stop_with_a_word
from iterlin_lab.runs.workers import prepare_jax


def main() -> None:
    """Do the task of this number in the array of this folder; if it fails, its reason is kept beside it."""
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    settings, tasks = read(folder)
    scale, task = scale_of(settings), tasks[number]
    stop_with_a_word(task.title)
    explain_failures(task.title)
    if processors := os.environ.get("SLURM_CPUS_PER_TASK"):
        os.environ["ITERLIN_WORKERS"] = str(max(1, int(processors) // scale.threads))
    prepare_jax(scale)
    why = folder / REASON.format(number)
    why.unlink(missing_ok=True)
    print(f"{task.title} on {os.environ.get('SLURMD_NODENAME', 'this machine')}", flush=True)
    try:
        do(task, scale)
    except BaseException as error:
        with suppress(OSError):  # where the disk is full
            why.write_text(f"{type(error).__name__}: {error}".removeprefix("SystemExit: ").splitlines()[0].rstrip(": "))
        raise
    (folder / ENDED.format(number)).touch()


if __name__ == "__main__":
    main()
