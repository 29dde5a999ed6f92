"""The benchmark's command line; what it times is no test."""

import subprocess
import sys

from tests.clone import ROOT


def test_a_group_that_is_not_there_is_named_at_once():
    command = (sys.executable, "-m", "benchmarks", "--groups", "digits", "digit")
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "there is no group 'digit', but mini-batch, full batch, digits, long phases" in done.stderr
