"""What is said of the verdicts after a run."""

import json
import subprocess
from pathlib import Path

import pytest

from iterlin_lab.dvc.verdicts import in_words

CLAIMS = Path("reports/smoke/claims.json")


def write(**verdicts):
    CLAIMS.write_text(
        json.dumps({"verdict": {claim.replace("_", "-"): verdict for claim, verdict in verdicts.items()}})
    )


@pytest.fixture
def committed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CLAIMS.parent.mkdir(parents=True)
    write(E_A_1="supported", E_A_2="inconclusive", E_B_1="supported")
    user = ("-c", "user.name=t", "-c", "user.email=t@t")
    for command in (["init", "-q"], ["add", "."], [*user, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *command], check=True)


def test_the_same_verdicts_are_counted(committed):
    assert in_words(CLAIMS) == "3 claims: 2 supported, 1 inconclusive\nAgainst the last commit: the same verdicts"


def test_what_has_changed_is_named(committed):
    write(E_A_1="contradicted", E_A_2="inconclusive", E_C_1="supported")
    assert in_words(CLAIMS).splitlines()[1] == (
        "Against the last commit: E-A-1: supported committed, contradicted recomputed; "
        "E-B-1: supported committed, nothing recomputed; E-C-1: nothing committed, supported recomputed"
    )


def test_without_a_commit_there_is_nothing_to_compare_with(committed):
    subprocess.run(["git", "update-ref", "-d", "HEAD"], check=True)
    assert in_words(CLAIMS).splitlines()[1] == "The last commit has no verdicts to compare with"
