"""Nodes that share nothing with the head but a remote of DVC: what a job begins with, and what both exchange."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iterlin_lab.cluster import arrays
from iterlin_lab.cluster.arrays import Array, Source, next_folders, place_of, require_libraries, script, write
from iterlin_lab.cluster.exchange import Exchange
from iterlin_lab.cluster.settings import Resources
from iterlin_lab.cluster.tasks import tasks
from iterlin_lab.config import load
from iterlin_lab.runs.store import DIGESTS

SMOKE = load().presets["smoke"]


def dvc(*words):
    subprocess.run([sys.executable, "-m", "dvc", *words], check=True)


def test_a_script_for_nodes_that_share_nothing_clones_the_commit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Source("my server:x.git", "abc", "storage")
    text = script(Array(Path("1"), tasks(SMOKE)[:3], Resources()), SMOKE, source)
    assert "git clone --quiet 'my server:x.git' . && git checkout --quiet abc; }" in text
    assert "-m iterlin_lab.cluster.visit storage .cache/cluster/" in text
    assert "#SBATCH --chdir=/tmp\n" in text
    assert "\nvisit &\n" in text
    together = script(Array(Path("1"), tasks(SMOKE)[:3], Resources(processes=2, processors=1)), SMOKE, source)
    assert "\nITERLIN_PROCESSES=2 srun --kill-on-bad-exit=1 --cpus-per-task=1 bash -c visit &\n" in together
    for each in (text, together):
        assert subprocess.run(["bash", "-n"], input=each, text=True).returncode == 0


def test_a_clone_that_fails_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Source(str(tmp_path / "nowhere.git"), "abc", "storage")
    text = script(Array(Path("1"), tasks(SMOKE)[:1], Resources()), SMOKE, source)
    done = subprocess.run(
        ["bash"], input=text, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True
    )
    assert done.returncode == 1
    assert "nowhere.git" in done.stderr
    assert not list(tmp_path.iterdir())


def test_arrays_of_two_heads_have_other_names_in_the_remote(tmp_path, monkeypatch):
    names = set()
    for head in ("a", "b"):
        (tmp_path / head).mkdir()
        monkeypatch.chdir(tmp_path / head)
        names |= {place_of(Path("1")), place_of(Path("2"))}
    assert len(names) == 4


def test_a_job_refuses_other_libraries_than_the_head_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    array = Array(next(next_folders()), tasks(SMOKE)[:1], Resources())
    write(array, SMOKE)
    require_libraries(array.folder)
    monkeypatch.setattr(arrays, "versions", lambda names: dict.fromkeys(names, "0.1"))
    with pytest.raises(SystemExit, match=r"^jax is 0\.1 here, and .* at the head: set `python` or `container`$"):
        require_libraries(array.folder)


def test_what_is_sent_to_a_remote_is_fetched_until_it_is_forgotten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dvc("init", "-q", "--no-scm")
    dvc("remote", "add", "storage", str(tmp_path / "remote"))
    exchange = Exchange("storage")
    sent, runs = tmp_path / "sent", tmp_path / "runs" / "abc"
    for path in (sent / "a", sent / "deep" / "b", runs / "x", runs / DIGESTS):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    exchange.send(sent, "training/1")
    exchange.fetch("training/1", tmp_path / "got")
    assert sorted(path.name for path in (tmp_path / "got").rglob("*")) == ["a", "b", "deep"]
    assert (tmp_path / "got/deep/b").read_text() == "b"
    exchange.forget("training/1")
    exchange.fetch("training/1", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    exchange.send_runs([runs, tmp_path / "runs" / "not trained"])
    shutil.move(runs, tmp_path / "away")
    exchange.fetch_runs([runs, tmp_path / "runs" / "other"])
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["abc"]
    assert (runs / "x").read_text() == "x"
    shutil.rmtree(runs)
    (tmp_path / "remote/iterlin/runs/abc" / DIGESTS).unlink()  # as if it were still on its way
    exchange.fetch_runs([runs])
    assert not runs.exists()


def test_a_remote_that_dvc_does_not_know_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dvc("init", "-q", "--no-scm")
    with pytest.raises(SystemExit, match=r"^cluster\.yaml: remote: .*'nowhere'"):
        Exchange("nowhere")
