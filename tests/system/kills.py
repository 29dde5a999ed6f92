"""Processes that are killed at random moments, and started again until they end by themselves."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress

import psutil

from tests.clone import Clone, environment

FORKS, WORKER = "iterlin_lab.dvc.forks", "multiprocessing.forkserver"
ENOUGH = 900  # seconds for any command that is left alone


def kills(default: int) -> int:
    """How many; ITERLIN_KILLS multiplies it."""
    return default * int(os.environ.get("ITERLIN_KILLS", "1"))


def start(clone: Clone, *command: str, **settings: str) -> subprocess.Popen[str]:
    """A command in a clone, with what it starts in a process group of its own."""
    env = environment(
        PYTHONPATH=str(clone.folder / "src"), ITERLIN_CHECKPOINT_SECONDS="0", ITERLIN_WORKERS="2", **settings
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=clone.folder, env=env, start_new_session=True, **pipes)


def below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """All processes that it has started, directly or not."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def trainers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The stage that runs, what waits for it if it was forked, and its workers."""
    return [child for child in below(process) if _trains(child)]


def _trains(process: psutil.Process) -> bool:
    command = command_of(process)
    if FORKS in command:
        with suppress(psutil.Error):
            parent = process.parent()
            return parent is not None and FORKS in command_of(parent)  # and so not the one that forks
    return "stages/" in command or WORKER in command


def command_of(process: psutil.Process) -> str:
    """What it was called as."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def kill_dvc(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Its trainer stays, an orphan."""
    process.kill()


def kill_trainer(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Or one of its workers."""
    found = trainers(process)
    if found:
        try:
            rng.choice(found).kill()
        except psutil.NoSuchProcess:
            process.kill()
    else:
        process.kill()


def kill_both(process: subprocess.Popen[str], rng: random.Random) -> None:
    """All at the same moment."""
    os.killpg(process.pid, signal.SIGKILL)


def kill_any(process: subprocess.Popen[str], rng: random.Random) -> None:
    """The command, or any process that it has started."""
    with suppress(psutil.NoSuchProcess):
        rng.choice([psutil.Process(process.pid), *below(process)]).kill()


Kinds = Mapping[str, Callable[[subprocess.Popen[str], random.Random], None]]
KINDS: Kinds = {
    "dvc": kill_dvc,
    "trainer": kill_trainer,
    "both": kill_both,
}


def until_it_ends(
    begin: Callable[[], subprocess.Popen[str]],
    longest: float,
    at_most: int,
    rng: random.Random,
    kinds: Kinds = KINDS,
) -> Counter[str]:
    """Kill it at random moments, at most so many times, until it has come to its end. The kills, by kind."""
    done: Counter[str] = Counter()
    while True:
        kind = rng.choice(list(kinds))
        process = begin()
        try:
            output, _ = process.communicate(timeout=rng.uniform(0, longest) if done.total() < at_most else ENOUGH)
        except subprocess.TimeoutExpired:
            assert done.total() < at_most, f"it does not end\n{os.popen('ps axf').read()}"
            kinds[kind](process, rng)
            process.communicate(timeout=ENOUGH)
            done[kind] += 1
        else:
            if "it is being blocked by" in output:  # a DVC whose caller was killed is still at work
                time.sleep(1)
                continue
            assert process.returncode == 0, output
            return done
