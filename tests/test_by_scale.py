"""`dvc.lock` has the stages of one scale, and those of the others lie beside their reports."""

import fcntl

import pytest
from ruamel.yaml import YAML

from iterlin_lab.config import load
from iterlin_lab.dvc.by_scale import put_away, take_up
from iterlin_lab.dvc.cut_off import REPO_LOCK
from tests.clone import ROOT

FIRST = "  first@a:\n    cmd: x\n    outs:\n    - path: one\n      hash: md5\n      md5: {}\n      size: 1\n"
TEXT = "schema: '2.0'\nstages:\n" + "".join(
    FIRST.replace("first@a", name).format(number * 32)
    for name, number in (("first@a", "0"), ("first@b", "1"), ("second@a-x", "2"), ("second@b-x-1e5", "3"))
)


def stages(path):
    return YAML(typ="safe").load(path)["stages"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project whose `dvc.lock` has stages of two scales that have reports."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.lock").write_text(TEXT)
    for scale in "ab":
        (tmp_path / "reports" / scale).mkdir(parents=True)
    return tmp_path


def test_what_is_put_away_comes_back_as_it_was(folder, capsys):
    whole = stages(folder / "dvc.lock")
    put_away("a")
    assert stages(folder / "dvc.lock").keys() == {"first@a", "second@a-x"}
    assert stages(folder / "reports/b/dvc.lock").keys() == {"first@b", "second@b-x-1e5"}
    assert not (folder / "reports/a/dvc.lock").exists()
    take_up("a")
    assert capsys.readouterr().err == ""
    take_up("b")
    assert capsys.readouterr().err == "dvc.lock has the stages of reports/b/dvc.lock now\n"
    assert stages(folder / "dvc.lock") == whole
    put_away("b")
    assert not (folder / "reports/b/dvc.lock").exists()
    assert stages(folder / "reports/a/dvc.lock") | stages(folder / "dvc.lock") == whole


def test_what_ran_here_stands_before_what_lies_beside_a_report(folder):
    put_away("a")
    newer = TEXT.replace("1" * 32, "9" * 32)
    (folder / "dvc.lock").write_text(newer)
    take_up("b")
    assert (folder / "dvc.lock").read_text() == newer


def test_a_scale_without_a_report_stays(folder):
    (folder / "reports/b").rmdir()
    put_away("a")
    assert (folder / "dvc.lock").read_text() == TEXT
    put_away("c")
    assert stages(folder / "dvc.lock").keys() == {"first@b", "second@b-x-1e5"}


def test_where_nothing_is_left_dvc_finds_no_file(folder):
    put_away("c")
    assert not (folder / "dvc.lock").exists()
    take_up("a")
    assert stages(folder / "dvc.lock").keys() == {"first@a", "second@a-x"}


def test_nothing_is_done_while_a_dvc_is_at_work(folder):
    put_away("a")
    REPO_LOCK.parent.mkdir(parents=True)
    with REPO_LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        take_up("b")
        assert stages(folder / "dvc.lock").keys() == {"first@a", "second@a-x"}
        (folder / "dvc.lock").write_text(TEXT)
        put_away("b")
        assert (folder / "dvc.lock").read_text() == TEXT
    put_away("a")
    assert stages(folder / "dvc.lock").keys() == {"first@a", "second@a-x"}


def test_every_report_here_has_its_stages_in_one_place():
    own = load().scale.name
    for path in ROOT.glob("reports/*/REPORT.md"):
        lock = ROOT / "dvc.lock" if path.parent.name == own else path.parent / "dvc.lock"
        assert {name.split("@")[1].split("-")[0] for name in stages(lock)} == {path.parent.name}
