"""The benchmark's command line; what it times is no test."""

import subprocess
import sys

from tests.clone import ROOT, environment, on_terminal

GROUPS = (
    "mini-batch, full batch, digits, long phases, longer phases, dual, stock jax, scaling, residual, transformer, "
    "large dual, gpu"
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
