"""One run on several hosts: processes that know each other through jax end alike, and as one process does."""

import json
import subprocess
import sys

import pytest

from tests.clone import ROOT
from tests.server import free_port


def ends(count: int) -> list[dict]:
    """What each of so many processes ends with."""
    command = [sys.executable, "-m", "tests.hosts", str(free_port()), str(count)]
    started = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    return [json.loads(process.communicate(timeout=300)[0].splitlines()[-1]) for process in started]


def test_two_processes_end_alike_and_as_one_does():
    (alone,) = ends(1)
    first, second = ends(2)
    assert (alone["devices"], first["devices"]) == (1, 2)
    assert first == second
    for name, expected in alone["ends"].items():
        assert first["ends"][name] == pytest.approx(expected, abs=1e-12), name
