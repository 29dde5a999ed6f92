"""A DVC at work here is waited for."""

import json
import subprocess
import threading

import pytest

from iterlin_lab.dvc.others import wait_for_others


def entry(number):
    return {"pid": number, "cmd": "dvc repro"}


@pytest.fixture
def locks(tmp_path, monkeypatch):
    """DVC's list of what is read and written."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".dvc/tmp/rwlock"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize("kind", ["read", "write"])
def test_who_is_at_work_is_named_once_and_waited_for(locks, capsys, kind):
    process = subprocess.Popen(["sleep", "60"])
    listed = {"read": {"a": [entry(process.pid)], "b": [entry(process.pid)]}, "write": {"a": entry(process.pid)}}
    locks.write_text(json.dumps({kind: listed[kind]}))

    def end():
        process.kill()
        process.wait()

    timer = threading.Timer(1, end)
    timer.start()
    wait_for_others()
    assert process.poll() is not None
    timer.join()
    assert capsys.readouterr().err == f"waiting for process {process.pid} (dvc repro), which is at work here\n"


@pytest.mark.parametrize("content", [None, "{}", '{"write": {"a": {"pid": 2147483647, "cmd": "dvc repro"}}}', '{"wri'])
def test_nobody_is_waited_for_who_is_not_there(locks, capsys, content):
    if content is not None:
        locks.write_text(content)
    wait_for_others()
    assert capsys.readouterr().err == ""
