"""The benchmark's command line; what it times is no test."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks.kernels import PEER, _require_same, tangents
from benchmarks.problems import NotInstalled, images
from tests.clone import ROOT, environment, on_terminal

GROUPS = (
    "mini-batch, full batch, digits, long phases, longer phases, dual, kernel, stock jax, scaling, residual, "
    "transformer, large dual, gpu"
)


def test_a_group_that_is_not_there_is_one_line_that_lists_them():
    command = ("make", "--old-file=.venv/installed", "bench", "GROUPS=digits digit")
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment(), timeout=120)
    assert done.returncode != 0
    assert done.stdout == ""
    line, made = done.stderr.splitlines()
    assert line == f"there is no group 'digit', but {GROUPS}"
    assert made.startswith("make: ***")


def test_each_row_comes_once_it_is_measured_after_the_name_of_its_pair(tmp_path):
    command = (
        sys.executable,
        "-m",
        "benchmarks",
        "--groups",
        "digits",
        "--repetitions",
        "1",
        "--csv",
        tmp_path / "csv",
    )
    done = subprocess.run(command, stdout=-1, stderr=subprocess.STDOUT, text=True, cwd=ROOT, env=environment())
    _, _, group, *lines = done.stdout.splitlines()  # after the head of the table
    assert group == "digits, 5 pairs"
    named = [line.removeprefix("next: ") for line in lines[0:10:2]]
    assert len(set(named)) == 5
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[1:10:2]] == named


def test_a_terminal_has_a_bar_and_the_table_is_printed_beside_it(tmp_path):
    arguments = ("--groups", "scaling", "--repetitions", "1", "--csv", str(tmp_path / "csv"))
    printed, said = on_terminal(ROOT, sys.executable, "-m", "benchmarks", *arguments)
    assert "next: linearised: 50 channels / 25:" in said
    assert "| 1/2 [" in said
    assert len(printed.splitlines()) >= 4  # the head of the table, and a row a pair
    assert "| linearised: 256 examples / 64 | " in printed
    assert "\r" not in printed


def test_a_peer_that_is_not_there_or_cannot_compute_is_told_apart(monkeypatch):
    build, problem = tangents("JACOBIAN_CONTRACTION"), images(2, 2)
    monkeypatch.delenv(PEER, raising=False)
    with pytest.raises(NotInstalled):
        build(problem)
    monkeypatch.setenv(PEER, sys.executable)  # has no neural-tangents
    monkeypatch.setenv("NPROC", "1")
    with pytest.raises(ValueError, match=f"the Python of {PEER} could not compute the kernel"):
        build(problem)


def test_a_peer_with_another_kernel_is_refused():
    ours = np.arange(36.0).reshape(6, 6)  # of three examples with two outputs
    theirs = ours.reshape(3, 2, 3, 2).transpose(0, 2, 1, 3)
    _require_same(theirs * (1 + 1e-6), ours)
    with pytest.raises(ValueError, match=r"neural-tangents has another kernel: 0\.001 of its largest entry apart"):
        _require_same(theirs * 1.001, ours)
