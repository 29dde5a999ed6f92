"""How runs share the processors. Nothing here imports jax: threads are set before that."""

import getpass
import hashlib
import os
import platform
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from pkgutil import resolve_name
from typing import IO, Any, TypeVar

from tqdm import tqdm

from iterlin_lab.files import one_of
from iterlin_lab.runs.processor import processor
from iterlin_lab.runs.stopping import begin_worker
from iterlin_lab.settings.shared import Shared

CHECKPOINT_SECONDS = "ITERLIN_CHECKPOINT_SECONDS"  # between two checkpoints; no byte of a result depends on it
PROCESSES = "ITERLIN_PROCESSES"  # of a job that compute each run together
SLOTS = "ITERLIN_SLOTS"  # the folder with the locks by which all stages of a pipeline share the processors
LOOK = 0.1  # seconds between two looks for a free one
Item = TypeVar("Item")
LIBRARIES = ["equinox", "optax", "pandas"]  # slow to import, with all that they import


def prepare_jax(scale: Shared) -> None:
    """Set, before jax starts: its threads, its precision, its cache, and that it does not take a whole GPU."""
    os.environ["NPROC"] = str(scale.threads)
    os.environ["OPENBLAS_NUM_THREADS"] = str(scale.threads)  # of numpy's eigendecompositions in closed form
    double = scale.precision == "float64"
    os.environ["JAX_ENABLE_X64"] = str(int(double))
    os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest" if double else scale.precision
    if scale.devices > 1:
        _divide_processor(scale.devices // num_processes())
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(compilation_cache()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # runs side by side share it


def _divide_processor(devices: int) -> None:
    """A processor counts as so many devices, where there is no accelerator.

    What submits a job may have set another number before.
    """
    flag = "--xla_force_host_platform_device_count="
    flags = [word for word in os.environ.get("XLA_FLAGS", "").split() if not word.startswith(flag)]
    os.environ["XLA_FLAGS"] = " ".join([*flags, f"{flag}{devices}"])


def compilation_cache() -> Path:
    """Where compiled programs are kept: they fit one kind of processor, and whoever writes them runs code here.

    **Raises**: `SystemExit` if the folder is another user's, or others may write to it.
    """
    lines = sorted(line for line in processor().splitlines() if line.startswith(("model name", "flags", "Features")))
    digest = hashlib.sha256("\n".join([platform.machine(), *lines]).encode()).hexdigest()[:16]
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()  # who may have no name, as in a container
    folder = Path(f".cache/jax/{user}-{digest}").resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        sys.exit(f"{folder} belongs to another user, who could run code through it: remove it")
    if folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        sys.exit(f"{folder} may be written by other users, who could run code through it: remove it")
    return folder


def num_processes() -> int:
    """The processes of a job that compute each run together, one on each host or accelerator."""
    return whole_number(PROCESSES, 1)


def num_workers(threads: int) -> int:
    """How many runs fit on this machine side by side; `ITERLIN_WORKERS` overrides it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("ITERLIN_WORKERS", max(1, cores // threads))


def whole_number(name: str, default: int, smallest: int = 1) -> int:
    """What the environment says, about how and not what to compute.

    **Raises**: `SystemExit` with one line if that is no such number.
    """
    said = os.environ.get(name, str(default))
    if not (said.isdecimal() and int(said) >= smallest):
        sys.exit(f"{name} must be a whole number of at least {smallest}, got {said!r}")
    return int(said)


def checkpoint_interval() -> float:
    """The seconds between two checkpoints."""
    return float(whole_number(CHECKPOINT_SECONDS, 30, smallest=0))


def run_side_by_side(
    function: str, tasks: Sequence[Any], threads: int, progress: Callable[[Iterable], Iterable]
) -> list[Any]:
    """The answers of `function`, "module:name", in the order of the tasks, computed in several processes at once.

    It is named and not given, so that only these import jax. They are forked from a process that has imported the
    libraries, and nothing of ours: what has computed with jax, as a module may that makes an array, cannot be forked.

    **Raises**: `SystemExit` naming the remedy if a process is killed, as it is when memory runs out.
    """
    workers = num_workers(threads)
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    with ProcessPoolExecutor(min(len(tasks), workers), mp_context=context, initializer=begin_worker) as pool:
        futures: list[Future] = []
        try:
            for future in progress(_finished(pool, function, tasks, workers, futures)):
                future.result()
        except BrokenProcessPool:
            stage = os.environ.get("DVC_STAGE", "this stage")
            sys.exit(
                f"{stage}: a training process was killed, perhaps for lack of memory. Finished runs are kept: set "
                f"ITERLIN_WORKERS={max(1, workers // 2)} and run `dvc repro` again"
            )
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


def _finished(
    pool: ProcessPoolExecutor, function: str, tasks: Sequence[Any], workers: int, futures: list[Future]
) -> Iterator[Future]:
    """What becomes of the tasks, as they finish. Each begins, and is put to `futures`, once it has a processor."""
    slots: dict[Future, IO | ExitStack] = {}
    try:
        while slots or len(futures) < len(tasks):
            while len(futures) < len(tasks) and len(slots) < workers and (slot := _take_slot(workers)):
                futures.append(pool.submit(_call, function, tasks[len(futures)]))
                slots[futures[-1]] = slot
            if not slots:
                time.sleep(LOOK)
            patience = LOOK if len(futures) < len(tasks) else None
            for future in wait(slots, patience, FIRST_COMPLETED).done:
                slots.pop(future).close()
                yield future
    finally:
        for slot in slots.values():
            slot.close()


def _take_slot(number: int) -> IO | ExitStack | None:
    """Until it is closed, one of so many processors, none of which another stage of this pipeline has taken."""
    folder = os.environ.get(SLOTS)
    return one_of(Path(folder, str(slot)) for slot in range(number)) if folder else ExitStack()


def grouped(items: Sequence[Item], size: int) -> list[list[Item]]:
    """The items in their order, so many in a group; the last may be smaller."""
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def side_by_side(
    function: str,
    tasks: Sequence[Any],
    threads: int,
    title: str,
    unit: str,
    runs: int | None = None,
) -> list[Any]:
    """`run_side_by_side` with progress: it counts answers, or `runs` where each answer is a list of these."""
    of = (lambda answer: 1) if runs is None else len
    return run_side_by_side(function, tasks, threads, counted(title, unit, len(tasks) if runs is None else runs, of))


def counted(
    title: str, unit: str, total: int, of: Callable[[Any], int] = lambda answer: 1
) -> Callable[[Iterable], Iterable]:
    """Progress that shows how many have finished; an answer may stand for several."""

    def progress(finished: Iterable) -> Iterable:
        with tqdm(total=total, desc=title, unit=unit) as bar:
            for item in finished:
                yield item
                bar.update(of(item.result()))

    return progress


def _call(function: str, task: Any) -> Any:
    return resolve_name(function)(task)
