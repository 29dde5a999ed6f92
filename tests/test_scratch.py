import subprocess
import sys
import threading

import pytest

from iterlin_lab.files import alone
from iterlin_lab.runs import store as scratch


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "SCRATCH", tmp_path / "runs")
    monkeypatch.setattr(scratch, "TRAINING", tmp_path / "work")
    monkeypatch.setattr(scratch, "SOURCE", tmp_path / "package")
    (tmp_path / "package" / "core").mkdir(parents=True)
    (tmp_path / "package" / "core" / "a.py").write_text("1")
    (tmp_path / "package" / "b.py").write_text("2")
    scratch.code_digest.cache_clear()
    return tmp_path


def kept(description, code, compute):
    """For a single description."""
    (entry,) = scratch.kept([description], code, lambda folders, _: compute(folders[0]))
    return entry


def compute(calls):
    def fill(folder):
        calls.append(folder)
        (folder / "result").write_text(str(len(calls)))

    return fill


def test_what_is_kept_is_not_computed_again():
    calls = []
    first = kept({"seed": 0}, ("core",), compute(calls))
    assert kept({"seed": 0}, ("core",), compute(calls)) == first
    assert (first / "result").read_text() == "1"
    assert kept({"seed": 1}, ("core",), compute(calls)) != first
    assert len(calls) == 2


@pytest.mark.parametrize(("file", "count"), [("core/a.py", 2), ("b.py", 1)])
def test_a_change_of_the_code_that_it_depends_on_and_of_no_other_computes_again(folder, file, count):
    calls = []
    kept({}, ("core",), compute(calls))
    (folder / "package" / file).write_text("changed")
    scratch.code_digest.cache_clear()
    kept({}, ("core",), compute(calls))
    assert len(calls) == count


@pytest.mark.parametrize("damage", ["flipped", "gone", "more", "no digests", "no JSON"])
def test_what_was_damaged_is_said_and_computed_again(damage, capsys):
    calls = []
    entry = kept({}, ("core",), compute(calls))
    path = entry / {"more": "new", "no digests": scratch.DIGESTS, "no JSON": scratch.DIGESTS}.get(damage, "result")
    if damage in ("gone", "no digests"):
        path.unlink()
    else:
        path.write_text("{9")
    assert kept({}, ("core",), compute(calls)) == entry
    assert (entry / "result").read_text() == "2"
    said = capsys.readouterr().err
    assert said.startswith("warning: ")
    assert said.endswith("has changed since it was kept: it is computed again\n")
    kept({}, ("core",), compute(calls))
    assert (len(calls), capsys.readouterr().err) == (2, "")


def test_what_fails_is_no_result_and_finds_its_progress_the_next_time(folder):
    def fail(folders, progress):
        (folders[0] / "half").touch()
        (progress / "step").write_text("7")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        scratch.kept([{}], ("core",), fail)
    assert not (folder / "runs").exists()

    def go_on(folders, progress):
        (folders[0] / "result").write_text((progress / "step").read_text())

    (entry,) = scratch.kept([{}], ("core",), go_on)
    assert (entry / "result").read_text() == "7"
    assert list((folder / "work").iterdir()) == []


def test_what_was_trained_and_not_all_moved_is_not_trained_again(folder, monkeypatch):
    seeds, move = [{"seed": seed} for seed in range(3)], scratch._move

    def stopped(source, entry):
        if source.name == "1":
            raise KeyboardInterrupt
        move(source, entry)

    def fill(folders, progress):
        for i, path in folders.items():
            (path / "result").write_text(str(i))

    monkeypatch.setattr(scratch, "_move", stopped)
    with pytest.raises(KeyboardInterrupt):
        scratch.kept(seeds, ("core",), fill)
    monkeypatch.setattr(scratch, "_move", move)
    assert len(list((folder / "runs").iterdir())) == 1
    entries = scratch.kept(seeds, ("core",), lambda folders, progress: pytest.fail("trained again"))
    assert [(entry / "result").read_text() for entry in entries] == ["0", "1", "2"]


HOLD = """
import sys
from pathlib import Path
from iterlin_lab.files import alone

with alone(Path(sys.argv[1]), "the lock"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def holder(lock):
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdin=-1, stdout=-1, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_second_process_waits_for_the_first_and_says_for_which(folder, capfd):
    with holder(folder / "lock") as first:
        assert first.stdin is not None
        timer = threading.Timer(0.5, first.stdin.close)
        timer.start()
        with alone(folder / "lock", "the lock"):
            assert first.wait() == 0
        timer.join()
    assert capfd.readouterr().err == f"waiting for process {first.pid}, which has the lock\n"


def test_the_lock_of_a_process_that_was_killed_is_free(folder, capfd):
    with holder(folder / "lock") as first:
        first.kill()
        first.wait()
        with alone(folder / "lock", "the lock"):
            pass
    assert capfd.readouterr().err == ""


def test_two_groups_with_a_run_in_common_agree(folder):
    def overtaken(folders, progress):
        for path in folders.values():
            (path / "result").write_text("mine")
        kept({"seed": 1}, ("core",), compute([]))

    entries = scratch.kept([{"seed": 0}, {"seed": 1}], ("core",), overtaken)
    assert [(entry / "result").read_text() for entry in entries] == ["mine", "1"]


def test_of_several_only_those_that_are_missing_are_computed():
    calls = []

    def fill(folders, progress):
        calls.append(list(folders))
        for i, folder in folders.items():
            (folder / "result").write_text(str(i))

    seeds = [{"seed": seed} for seed in range(4)]
    second = kept({"seed": 1}, ("core",), compute([]))
    entries = scratch.kept(seeds, ("core",), fill)
    assert entries[1] == second
    assert [(entry / "result").read_text() for entry in entries] == ["0", "1", "2", "3"]
    assert scratch.kept(seeds[::-1], ("core",), fill) == entries[::-1]
    assert calls == [[0, 2, 3]]
