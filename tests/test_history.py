"""The verdicts of committed reports, from git's history."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from iterlin_lab.claims.history import changes, history, in_words

SCALE = SimpleNamespace(name="mine")
YES, NO = "supported", "contradicted"


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
    assert in_words(found) == "3 reports; from one to the next, 2 of 4 verdicts changed"
    assert changes(found).to_dict("index")["A"] == {"changed": 1, "pairs": 2}


def test_another_word_for_the_same_verdict_is_no_change(commit):
    undecided, unfit = "inconclusive", "not applicable at this scale"
    old = "not testable at this scale"
    commit(1, {"verdict": {"A": "reproduced", "B": "not reproduced", "C": old, "D": old, "E": old}}, "old words")
    commit(2, {"verdict": {"A": YES, "B": NO, "C": undecided, "D": unfit, "E": YES}}, "new words")
    assert changes(history(SCALE))["changed"].to_dict() == {"A": 0, "B": 0, "C": 0, "D": 0, "E": 1}


def test_a_preset_without_reports_has_no_history(commit):
    commit(0, {"verdict": {}}, "another")
    assert history(SimpleNamespace(name="other")).empty
