"""Stages that are forked end, print and fail as by `python`, and do not outlive the DVC that has asked for them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from iterlin_lab.dvc.forks import NUMBER, Forks, ask


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    before, folder = Path.cwd(), tmp_path_factory.mktemp("forks")
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def forks(folder):
    with Forks() as forks:
        forks.start()
        yield forks


@pytest.fixture
def run(forks, folder):
    def run(text, *words, **env):
        (folder / "stage.py").write_text(text)
        return ask(forks._ask, ["stage.py", *words], env)

    return run


def test_it_is_what_python_would_be(run, folder, capfd):
    text = """
import json, os, sys
print(json.dumps([sys.argv, os.getcwd(), dict(os.environ), __name__, sys.path[0]]))
print("complaint", file=sys.stderr)
"""
    assert run(text, "word", ITERLIN_TEST="ä") == 0
    printed = capfd.readouterr()
    words, where, env, name, path = json.loads(printed.out)
    assert (words, where, name, path) == (["stage.py", "word"], str(folder), "__main__", ".")
    assert env == {"ITERLIN_TEST": "ä"}
    assert printed.err == "complaint\n"


def test_libraries_are_there_and_neither_jax_nor_code_of_ours(run, capfd):
    run("print(0)")  # what comes while it imports is not kept waiting
    capfd.readouterr()
    text = "import sys; print(*(name in sys.modules for name in ('mlflow.pyfunc', 'jax', 'iterlin_lab')))"
    deadline = time.monotonic() + 60
    while (said := (run(text), capfd.readouterr().out)[1]) != "True False False\n":
        assert said == "False False False\n"
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("raise SystemExit(3)", 3),
        ("import sys; sys.exit('one line')", 1),
        ("1 / 0", 1),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import atexit, os; atexit.register(print, 'at the end', flush=True)", 0),
    ],
)
def test_how_it_ends_is_told(run, capfd, text, status):
    assert run(text) == status
    printed = capfd.readouterr()
    assert ("at the end" in printed.out) == ("atexit" in text)
    assert ("ZeroDivisionError: division by zero" in printed.err) == ("1 / 0" in text)
    assert ("one line" in printed.err) == ("one line" in text)


def test_processes_of_its_own_can_be_waited_for(run, capfd):
    text = """
import subprocess, sys
from multiprocessing import get_context
if __name__ == "__main__":
    print(subprocess.run(["false"]).returncode)
    with get_context("forkserver").Pool(1) as pool:
        print(pool.map(abs, [-2]))
"""
    assert run(text) == 0
    assert capfd.readouterr().out == "1\n[2]\n"


def test_a_stage_ends_with_the_dvc_that_asked_for_it(forks, folder):
    (folder / "stage.py").write_text(f"""
import os, sys, time
sys.path[:0] = {sys.path!r}
from iterlin_lab.runs.stopping import stop_with_parent
stop_with_parent()
open("pid.new", "w").write(str(os.getpid()))
os.rename("pid.new", "pid")
time.sleep(600)
""")
    asking = f"""
import os, socket
from iterlin_lab.dvc.forks import ask
ask(socket.socket(fileno=int(os.environ["{NUMBER}"])), ["stage.py"], {{}})
"""
    dvc = subprocess.Popen([sys.executable, "-c", asking], **forks.passed)
    deadline = time.monotonic() + 60
    while not (folder / "pid").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    stage = psutil.Process(int((folder / "pid").read_text()))
    keeper = stage.parent()
    assert keeper
    dvc.send_signal(signal.SIGKILL)
    dvc.wait()
    _, alive = psutil.wait_procs([stage, keeper], timeout=30)
    assert not alive


def test_it_ends_with_a_process_that_is_gone_before_it_has_begun(folder):
    starting = (
        "import os; from iterlin_lab.dvc.forks import Forks as F; f = F(); f.start(); print(f._server.pid); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", starting], stdout=subprocess.PIPE, text=True, check=True)
    deadline = time.monotonic() + 60
    while psutil.pid_exists(int(done.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_where_nobody_forks_it_is_said(folder):
    (folder / "stage.py").write_text("print('here')")
    with Forks() as forks:
        forks.start()
        assert ask(forks._ask, ["stage.py"], {}) == 0
        assert forks._server
        forks._server.kill()
        forks._server.wait()
        assert ask(forks._ask, ["stage.py"], {}) is None
        assert ask(forks._ask, ["stage.py"], {"long": "x" * 10**7}) is None
    with Forks() as forks:
        forks._asked.close()  # as where there is no server
        assert ask(forks._ask, ["stage.py"], {}) is None
    assert NUMBER not in os.environ
