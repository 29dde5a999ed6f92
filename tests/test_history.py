"""The verdicts of committed reports, from git's history."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from iterlin_lab.dvc.history import changed, history

SCALE = SimpleNamespace(name="mine")
YES, NO = "reproduced", "not reproduced"


@pytest.fixture
def commit(tmp_path, monkeypatch):
    """Commits the seed and the verdicts that it is given."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "reports/mine"
    folder.mkdir(parents=True)

    def git(*command):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True, capture_output=True)

    def commit(seed, claims, subject):
        (tmp_path / "params.yaml").write_text(f"presets:\n  mine: {{seed: {seed}}}\n")
        (folder / "claims.json").write_text(json.dumps(claims))
        git("add", "-A")
        git("commit", "-m", subject)

    git("init")
    return commit


def test_a_row_is_a_commit_that_changed_verdicts(commit):
    commit(3, {"A": {"verdict": YES}, "B": {"verdict": NO}}, "first,\tin an older form")
    commit(4, {"verdict": {"A": YES, "B": YES, "C": NO}}, "second")
    commit(5, {"verdict": {"A": YES, "B": YES, "C": NO}, "more": 1}, "the same verdicts")
    commit(5, {"verdict": {"A": NO, "C": NO}}, "third")
    found = history(SCALE)
    assert found["what"].tolist() == ["first,\tin an older form", "second", "third"]
    assert found["seed"].tolist() == [3, 4, 5]
    assert found[["A", "B", "C"]].fillna("").to_numpy().tolist() == [[YES, NO, ""], [YES, YES, NO], [NO, "", NO]]
    assert changed(found) == "2 of 4"


def test_a_preset_without_reports_has_no_history(commit):
    commit(0, {"verdict": {}}, "another")
    assert history(SimpleNamespace(name="other")).empty
