"""Runs of an experiment that train at once: each is kept for itself."""

import json

import numpy as np
import pytest

from iterlin_lab.runs import runlog
from iterlin_lab.runs import store as scratch
from iterlin_lab.runs.training import Recipe, run_kept

RECIPE = Recipe(
    seed=0,
    run=0,
    threads=1,
    runs_at_once=1,
    precision="float32",
    sizes={"train": 20, "validation": 10, "test": 10},
    net={"name": "mlp", "width": 8, "depth": 2, "initialisation": "he_normal"},
    training={
        "num_steps": 200,
        "first_record": 1,
        "batch_size": None,
        "fit_loss": 0.2,
        "divergence_factor": 1e4,
        "records_per_decade": 5,
    },
    solver={"name": "gradient_descent"},
    learning_rate=0.3,
    period=4,
    tolerance=None,
    damping=0.0,
)


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """A file of two classes."""
    monkeypatch.setattr(scratch, "SCRATCH", tmp_path / "runs")
    monkeypatch.setattr(scratch, "TRAINING", tmp_path / "work")
    random, labels = np.random.default_rng(0), np.arange(60) % 2
    images = random.normal(size=(60, 4, 4, 1)) + labels[:, None, None, None]
    path = tmp_path / "data.npz"
    np.savez(path, images=images, labels=labels, official_test=np.zeros(60, bool))
    return path


def trained(data, numbers, at_once):
    """The folders of the runs with these numbers, and what is in them besides their logs."""
    folders = run_kept(([RECIPE._replace(run=number, runs_at_once=at_once) for number in numbers], data))
    return folders, [
        {name: (folder / name).read_bytes() for name in ("curve.csv", "run.json", "model.eqx")} for folder in folders
    ]


def test_each_run_is_kept_for_itself_and_is_not_trained_again(data, monkeypatch):
    first, _ = trained(data, [1], 3)
    times = first[0].stat().st_mtime_ns
    folders, contents = trained(data, [0, 1, 2], 3)
    assert folders[1] == first[0]
    assert first[0].stat().st_mtime_ns == times
    assert len(list(scratch.SCRATCH.iterdir())) == 3
    for number, (folder, content) in enumerate(zip(folders, contents, strict=True)):
        head, records = runlog.read(folder)
        assert head["run"] == json.loads(content["run.json"])["run"] == number
        assert len(records) == len(content["curve.csv"].splitlines()) - 1
    monkeypatch.setattr("iterlin_lab.runs.training.run_many", None)
    assert trained(data, [2, 0], 3)[0] == [folders[2], folders[0]]


def test_bytes_follow_from_the_parameters_and_not_from_which_runs_are_kept(data, tmp_path, monkeypatch):
    _, together = trained(data, [0, 1, 2], 3)
    monkeypatch.setattr(scratch, "SCRATCH", tmp_path / "others")
    apart = [trained(data, [number], 3)[1][0] for number in (2, 0, 1)]
    assert apart == [together[2], together[0], together[1]]


def test_runs_at_once_are_the_single_runs_and_kept_apart_from_them(data):
    single = [trained(data, [number], 1)[1][0] for number in range(3)]
    _, several = trained(data, [0, 1, 2], 3)
    assert len(list(scratch.SCRATCH.iterdir())) == 6
    assert [run["curve.csv"] for run in several] == [run["curve.csv"] for run in single]  # to eight digits
