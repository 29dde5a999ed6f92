"""`dvc.lock` cut off at every byte, as a DVC leaves it that is killed while it writes the file."""

import fcntl
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from iterlin_lab.dvc.cut_off import LOCKS, completed, is_whole, repair_files
from iterlin_lab.dvc.status import locked_outs, locked_paths
from tests.clone import ROOT, run_in

PIPELINE = """
stages:
  first:
    cmd: mkdir one && echo 1 > one/a && echo 2 > one/b && echo x >> ../ran
    deps: [zero]
    outs: [one]
  second:
    cmd: cat one/a > two && echo 3 > three && echo x >> ../ran
    deps: [one]
    outs: [two, three]
  third:
    cmd: cat two three > four && echo x >> ../ran
    deps: [two, three]
    outs: [four]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A repository with a pipeline that has run; outside it, a line for each time that a stage ran."""
    folder = tmp_path_factory.mktemp("cut_off") / "repository"
    folder.mkdir()
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "zero").write_text("0")
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"], ["dvc", "repro", "-q"]):
        run_in(folder, *command)
    return folder


def stages(text):
    return (YAML(typ="safe").load(text) or {}).get("stages", {})


def test_every_cut_is_seen_and_leaves_whole_entries(folder):
    whole = (folder / "dvc.lock").read_text()
    entries = list(stages(whole).items())
    seen = [cut for cut in range(len(whole)) if not is_whole(whole[:cut])]
    assert is_whole(whole)
    for cut in seen:
        found = list(stages(completed(whole[:cut], "")).items())
        assert found == entries[: len(found)]
    # Others end an out, and DVC misses what follows: the second out of the second stage, and stages.
    unseen = sorted(set(range(len(whole))) - set(seen))
    assert [list(stages(whole[:cut])) for cut in unseen] == [["first"], ["first", "second"], ["first", "second"]]


def test_what_a_cut_takes_comes_back_from_the_committed_file(folder):
    whole = (folder / "dvc.lock").read_text()
    old = whole.replace("hash: md5", "hash: old")
    for cut in range(len(whole)):
        kept = stages(completed(whole[:cut], ""))
        assert stages(completed(whole[:cut], old)) == stages(old) | kept


def test_the_lock_file_of_the_project_is_whole():
    assert is_whole((ROOT / "dvc.lock").read_text())


def test_outputs_are_found_in_the_lock_file_as_all_of_it_has_them(folder, monkeypatch):
    for place in (folder, ROOT):
        monkeypatch.chdir(place)
        outs = {name: stage["outs"] for name, stage in stages((place / "dvc.lock").read_text()).items()}
        assert locked_outs() == {name: " ".join(out["md5"] for out in found) for name, found in outs.items()}
        assert locked_paths() == [Path(out["path"]) for found in outs.values() for out in found]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 0.77, 0.99])
def test_dvc_goes_on_after_a_cut_and_runs_nothing_again(folder, share, monkeypatch, capsys):
    lock, ran = folder / "dvc.lock", folder.parent / "ran"
    whole, before = lock.read_text(), ran.read_text()
    monkeypatch.chdir(folder)
    lock.write_text(whole[: int(share * len(whole))])
    repair_files()
    assert capsys.readouterr().err == (
        "mended: dvc.lock had been cut off, so what it lacks was taken from the last commit. "
        "Nothing that was trained is lost\n"
    )
    run_in(folder, "dvc", "repro", "-q")
    assert (stages(lock.read_text()), ran.read_text()) == (stages(whole), before)
    repair_files()
    assert capsys.readouterr().err == ""


def test_a_list_of_locks_that_was_cut_off_is_removed(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    LOCKS.write_text('{"write": {')
    repair_files()
    assert not LOCKS.exists()
    assert "mended: .dvc/tmp/rwlock had been cut off, so it was removed" in capsys.readouterr().err


def test_nothing_is_touched_while_a_dvc_is_at_work(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    whole = (folder / "dvc.lock").read_text()
    with (folder / ".dvc/tmp/lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (folder / "dvc.lock").write_text("schema")
        repair_files()
    assert (folder / "dvc.lock").read_text() == "schema"
    assert capsys.readouterr().err == ""
    (folder / "dvc.lock").write_text(whole)
    run_in(folder, "dvc", "status", "-q")
