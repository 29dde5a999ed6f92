"""One run on several hosts: processes that know each other through jax end alike, and as one process does."""

import json
import subprocess
import sys

import pytest

from tests.clone import ROOT
from tests.server import free_port


def printed(count: int) -> list[str]:
    """What each of so many processes says."""
    command = [sys.executable, "-m", "tests.hosts", str(free_port()), str(count)]
    started = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    return [process.communicate(timeout=300)[0] for process in started]


def require_alike(alone: str, *processes: str) -> None:
    """What several processes have printed is the same, and up to rounding what one has that is alone."""
    expected, first, *others = (json.loads(text.splitlines()[-1]) for text in (alone, *processes))
    assert (expected["devices"], first["devices"]) == (1, len(processes))
    assert all(other == first for other in others)
    for name, end in expected["ends"].items():
        assert first["ends"][name] == pytest.approx(end, abs=1e-12), name


def test_two_processes_end_alike_and_as_one_does():
    require_alike(*printed(1), *printed(2))
