"""DVCs that take one command after another; and what is left of processes that are killed: nothing."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import dpath
import psutil
import pytest
from dvc.fs import LocalFileSystem
from dvc.parsing.context import Context, Meta
from dvc.utils.serialize import YAMLFileCorruptedError, parse_yaml

from iterlin_lab.config import read_yaml
from iterlin_lab.dvc.asked import Asked
from iterlin_lab.dvc.cut_off import HEAD
from iterlin_lab.dvc.jobs import _graph
from iterlin_lab.dvc.quick import look_up, parsed_once, with_vars_of_its_own
from iterlin_lab.runs.live import shown_live

PIPELINE = """
stages:
  all:
    matrix: {letter: [a, b]}
    cmd: cp source ${item.letter}
    params: [scale]
    deps: [source]
    outs: ["${item.letter}"]
  last:
    cmd: cat a b > c; mkdir d; cp a d/1; cp b d/2
    deps: [a, b]
    outs: [c, d]
"""


def children():
    return set(psutil.Process().children())


@pytest.fixture
def begun():
    """The processes that have started since."""
    before = children()
    return lambda: children() - before


def gone(process, within=10.0):
    """Whether it is not even defunct. (psutil's own waiting would take it away.)"""
    deadline = time.monotonic() + within
    while psutil.pid_exists(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not psutil.pid_exists(process.pid)


def test_one_process_takes_commands_one_after_another_and_then_ends(begun):
    with Asked() as dvc:
        first, second = dvc("version"), dvc("no-such-command")
        (process,) = begun()
    assert (first.returncode, second.returncode) == (0, 254)
    assert "DVC version: " in first.output
    assert "no-such-command" in second.output
    assert "DVC version: " not in second.output
    assert gone(process)


def test_as_many_processes_as_are_asked_at_once(begun):
    with Asked() as dvc, ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            done = [answer.result() for answer in [pool.submit(dvc, "version") for _ in range(2)]]
            assert [one.returncode for one in done] == [0, 0]
        assert len(begun()) == 2


def test_one_that_is_killed_while_it_has_nothing_to_do_is_replaced_and_leaves_nothing_defunct(begun):
    with Asked() as dvc:
        dvc("version")
        (process,) = begun()
        process.kill()
        assert gone(process)
        assert dvc("version").returncode == 0


def test_one_that_is_killed_at_work_has_failed(begun):
    with Asked() as dvc, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(dvc, "version")
        while not (found := begun()):
            time.sleep(0.01)
        (process,) = found
        process.kill()
        assert answer.result().returncode == -9
        assert gone(process)


def test_one_that_is_killed_before_it_is_asked_has_failed():
    class Killed(Asked):
        def _start(self):
            process = super()._start()
            process.kill()
            process.wait()
            return process

    with Killed() as dvc:
        assert dvc("version").returncode == -9


def test_what_shows_training_leaves_nothing_defunct(begun, monkeypatch):
    monkeypatch.setenv("DVC_STAGE", "sweep@smoke-k_sweep-1")
    with shown_live("K = 1"):
        (process,) = begun()
        process.kill()
        assert gone(process)


def test_a_pipeline_that_dvc_cannot_draw_is_no_empty_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Asked() as dvc, pytest.raises(SystemExit, match="you are not inside of a DVC repository"):
        _graph(dvc)


def test_parameters_are_found_as_dvc_finds_them():
    config = read_yaml(Path("params.yaml"))
    stages = read_yaml(Path("dvc.yaml"))["stages"].values()
    keys = {key for stage in stages for key in stage.get("params", ()) if "$" not in key}
    assert len(keys) > 20
    for key in keys:
        assert look_up(config, key, ".") == dpath.get(config, key, separator=".")
    for absent in ("nothing", "scale.nothing", "scale.seed.further"):
        with pytest.raises(KeyError, match=absent):
            look_up(config, absent, ".")


def test_files_are_parsed_as_dvc_parses_them():
    quick = parsed_once(parse_yaml)
    for path in map(Path, ("params.yaml", "dvc.yaml", "dvc.lock", *glob("reports/*/dvc.lock"))):
        text = path.read_text()
        for _ in range(2):
            found = quick(text, str(path))
            assert found == parse_yaml(text, str(path))
            found.popitem()  # the caller's own
    for text in (HEAD, "", "a: [1\n", f"{HEAD}  a:\n    cmd: 'true'\n  b:\n    cmd: [1\n"):
        assert outcome(quick, text) == outcome(parse_yaml, text)


def test_vars_of_a_stage_stand_beside_the_parameters_of_all():
    parameters = Context({"scale": {"name": "a", "seeds": [1, 2]}}, meta=Meta("params.yaml"))
    own, usual = with_vars_of_its_own(parameters), Context.clone(parameters)
    for context in (own, usual):
        context.load_from_vars(LocalFileSystem(), [{"project": "p"}], ".", stage_name="stage")
    assert (own.data, own.imports, own.meta) == (usual.data, usual.imports, usual.meta)
    assert own.select("scale.seeds", unwrap=True) == [1, 2]
    assert "project" in own
    assert "project" not in parameters


def outcome(parse, text):
    """What was found, or what was wrong and in which line."""
    try:
        return parse(text, "dvc.lock")
    except YAMLFileCorruptedError as error:
        return str(error), str(error.__cause__)


def test_a_text_and_an_entry_of_dvc_lock_are_parsed_once():
    parsed = []

    def parse(text, path):
        parsed.append(text)
        return parse_yaml(text, path)

    quick = parsed_once(parse)
    first, second, other = "  a:\n    cmd: 'true'\n", "  b:\n    cmd: 'true'\n", "  a:\n    cmd: 'false'\n"
    for text in ("c: 1\n", HEAD + first, HEAD + first + second, "c: 1\n", HEAD + other + second):
        quick(text, "dvc.lock")
    assert sorted(parsed) == sorted(["c: 1\n", HEAD, first, second, other])


def write_project(params):
    """`PIPELINE` with these parameters, in the folder where it is called."""
    Path("params.yaml").write_text(params)
    Path("dvc.yaml").write_text(PIPELINE)
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"]):
        subprocess.run(command, check=True)


def test_dvc_lock_is_written_as_dvc_writes_it(tmp_path, monkeypatch):
    locks = []
    for name in ("usual", "quick"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        write_project("scale: {name: 'a: b', η: 1.0e-05, seeds: [1, 2], text: \"x\\ny\", none: null}\n")
        for source in ("1", "2", "2", "3"):
            (folder / "source").write_text(source)
            if name == "usual":
                subprocess.run(["dvc", "repro", "-q"], check=True)
            else:
                with Asked() as dvc:
                    assert dvc("repro", "-q").returncode == 0
            locks.append((folder / "dvc.lock").read_text())
    assert locks[:4] == locks[4:]
    assert len(set(locks)) == 3


def test_dvc_reads_what_it_wrote_of_parameters_that_share_a_value(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_project("scale: {data: &data {name: mnist}, mnist: {data: *data}}\n")
    Path("source").write_text("1")
    with Asked() as dvc:
        assert dvc("repro", "-q").returncode == 0
    assert Path("dvc.lock").read_text().count("name: mnist") > 1
    subprocess.run(["dvc", "status", "-q"], check=True)
