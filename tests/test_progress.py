"""What the line on a terminal says of logs, and of the plan's hours."""

import json

import pytest

import iterlin_lab.dvc.progress as progress
from iterlin_lab.config import load
from iterlin_lab.runs.store import SCRATCH, TRAINING
from tests.clone import ROOT

STAGE, OTHER, TABLES = "sweep@smoke-k_sweep-10", "sweep@smoke-k_sweep-1", "tables@smoke"
HOUR = 3600.0


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What is said of these stages after an hour, of which the plan has these hours."""
    scale = load(ROOT / "params.yaml").presets["smoke"]
    monkeypatch.chdir(tmp_path)

    def line(hours, running, ended=(), after=HOUR):
        monkeypatch.setattr(progress, "measured_hours", lambda scale, stages: hours)
        monkeypatch.setattr(progress.time, "time", lambda: 0.0)
        shown = progress.Progress(scale, [STAGE, OTHER, TABLES])
        shown.line(running, [])  # a first look, as they begin
        monkeypatch.setattr(progress.time, "time", lambda: after)
        return shown.line(running, ended)

    return line


def log(folder, run, *steps):
    folder.mkdir(parents=True)
    head = {"stage": STAGE, "run": run, "started": float(run)}
    lines = [head, *({"seconds": 1.0, "step": step} for step in steps)]
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_it_says_which_run_trains_and_its_step(said):
    assert said({}, [STAGE]) == "k_sweep, K = 10"
    log(SCRATCH / "one", 0, 0, 300)
    log(TRAINING / "two/1", 1, 0, 12345)
    assert said({}, [STAGE, TABLES]) == "k_sweep, K = 10, run 2 of at most 2, step 12000; tables"


def test_the_time_left_is_the_plans_as_it_came_out_so_far(said):
    hours = {STAGE: 1.0, OTHER: 3.0, "sweep@smoke-k_sweep-inf": 7.0}
    assert said(hours, [STAGE]) == "k_sweep, K = 10"  # nothing is known yet of how long it takes here
    assert said(hours, [STAGE], ended=[OTHER]).endswith(", some 20 min left")
    assert said(hours, [OTHER], ended=[STAGE]).endswith(", some 3 h left")
    log(SCRATCH / "one", 0, 0, 300)
    assert said(hours, [STAGE], ended=[OTHER]).endswith(", some 9 min left")  # half of its runs are trained
    assert said(hours, [STAGE], ended=[OTHER], after=1.0).endswith(", some 1 min left")


def test_a_line_fits_the_terminal(said, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(progress, "measured_hours", lambda scale, stages: {})
    progress.Progress(load(ROOT / "params.yaml").presets["smoke"], [STAGE, OTHER]).show([STAGE], [OTHER])
    assert capsys.readouterr().err == "\r\x1b[K[1/2] k_sweep, K =…"
