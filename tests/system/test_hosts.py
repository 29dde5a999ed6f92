"""One run on several hosts: processes that know each other through jax end alike, and as one process does."""

import subprocess
import sys

from tests.clone import ROOT
from tests.hosts import require_alike
from tests.server import free_port


def printed(count: int) -> list[str]:
    """What each of so many processes says."""
    command = [sys.executable, "-m", "tests.hosts", str(free_port()), str(count)]
    started = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    return [process.communicate(timeout=300)[0] for process in started]


def test_two_processes_end_alike_and_as_one_does():
    require_alike(*printed(1), *printed(2))
