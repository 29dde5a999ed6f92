"""What jobs of a cluster ask for: by cluster.yaml, by the plan, and in their scripts. No SLURM is needed."""

import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from iterlin_lab.cluster import slurm, submit
from iterlin_lab.cluster.arrays import Array, clock, next_folders, read, script, write
from iterlin_lab.cluster.settings import Cluster, Resources, read_cluster
from iterlin_lab.cluster.tasks import tasks
from iterlin_lab.config import load, scale_of
from iterlin_lab.planning.bounds import Bounds
from iterlin_lab.planning.plan import cells_of

PRESETS = load().presets


def site(text: str, tmp_path: Path) -> Cluster:
    path = tmp_path / "cluster.yaml"
    path.write_text(text)
    return read_cluster(path)


def test_an_experiment_has_what_all_have_but_for_its_own(tmp_path):
    cluster = site("partition: a\nmodules: [x, y]\nexperiments: {resnet: {partition: b, gpus: 1}}", tmp_path)
    assert cluster.of("k_sweep") == Resources(partition="a", modules=["x", "y"])
    assert cluster.of("resnet") == Resources(partition="b", modules=["x", "y"], gpus=1)
    assert read_cluster(tmp_path / "no.yaml") == Cluster()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("partitoin: a", "partitoin: Extra inputs are not permitted"),
        ("processors: 0", "processors: Input should be greater than or equal to 1, got 0"),
        ("time: '90'", "time: String should match pattern"),
        ("experiments: {xor: {memory: 3 GB}}", "experiments.xor.memory: String should match pattern"),
        ("experiments: {exor: {}}", "experiments: there is no 'exor', but k_sweep, "),
        ("a: [", "is not valid YAML"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_its_key(text, words, tmp_path):
    with pytest.raises(SystemExit) as error:
        site(text, tmp_path)
    (line,) = str(error.value).splitlines()
    assert words in line
    assert str(tmp_path / "cluster.yaml") in line


def test_where_there_is_no_slurm_one_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SystemExit, match=r"^There is no SLURM here \(no sbatch\): `make repro` trains everything on this "
    ):
        slurm.require_slurm()
    assert slurm.jobs() == []


@pytest.mark.parametrize(("hours", "text"), [(0.5, "0-00:30:00"), (1.01, "0-01:01:00"), (48, "2-00:00:00")])
def test_hours_as_a_time_limit(hours, text):
    assert clock(hours) == text


def test_a_script_asks_for_what_is_set_and_bash_accepts_it_in_any_folder(tmp_path, monkeypatch):
    folder = tmp_path / "mein Projekt"
    folder.mkdir()
    monkeypatch.chdir(folder)
    asked = Resources(processors=2, time="0-01:00:00", options=["--nice=5"], modules=["my module"], container="env A=1")
    text = script(Array(Path("1"), tasks(PRESETS["smoke"])[:3], asked), PRESETS["smoke"])
    options = [shlex.split(line)[1] for line in text.splitlines() if line.startswith("#SBATCH")]
    assert {"--cpus-per-task=2", "--time=0-01:00:00", "--nice=5", "--array=0-2", f"--chdir={folder}"} <= set(options)
    assert not any(name in text for name in ("--gpus", "--account", "--mem="))
    assert "module load 'my module'\n" in text
    assert "env A=1 " in text
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0


def test_processes_that_share_a_run_start_together(tmp_path, monkeypatch):
    scale = PRESETS["smoke"].model_copy(update={"devices": 4})
    found = [task for task in tasks(scale) if task.experiment in ("k_sweep", "xor")]
    planned = plan(scale, found, monkeypatch)
    (first, second), _ = submit.planned_arrays(
        scale, site("{processes: 2, memory: 4G}", tmp_path), found, planned, largest=7
    )
    sweep, tables = (script(array, scale) for array in sorted((first, second), key=lambda array: -len(array.tasks)))
    assert "#SBATCH --ntasks=2\n" in sweep
    assert f"\nITERLIN_PROCESSES=2 srun --kill-on-bad-exit=1 --cpus-per-task=1 {sys.executable} -m " in sweep
    assert "#SBATCH --ntasks=1\n" in tables
    assert "srun" not in tables
    with pytest.raises(
        SystemExit, match=r"^cluster\.yaml: processes: 3 cannot have equal shares of the 4 devices of a run, which "
    ):
        submit.planned_arrays(scale, site("processes: 3", tmp_path), found, planned, largest=7)
    with pytest.raises(SystemExit, match=r"^cluster\.yaml: memory: say how much a node has for its processes, "):
        submit.planned_arrays(scale, site("processes: 2", tmp_path), found, planned, largest=7)


def test_an_array_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale = PRESETS["paper"]
    array = Array(next(next_folders()), tasks(scale)[:2], Resources())
    write(array, scale)
    settings, held = read(array.folder)
    assert held == array.tasks
    assert scale_of(settings) == scale
    assert next(next_folders()).name == "000002"


def plan(scale, found, monkeypatch):
    """Every task takes an hour on a machine of two processors, and a process a GiB."""
    held = Counter(task.stage for task in found if not task.after)
    rows = [{"cells": [stage], "hours": Bounds.exactly(held[stage]), "memory": 2**31} for stage in cells_of(scale)]
    monkeypatch.setattr(submit, "make_plan", lambda scale: rows)
    monkeypatch.setattr(submit, "num_workers", lambda threads: 2)
    return submit.Plan(scale, found)


def test_arrays_hold_what_asks_for_the_same_within_the_limit_of_the_site(tmp_path, monkeypatch):
    scale = PRESETS["smoke"]
    found = tasks(scale)
    cluster = site("experiments: {xor: {processors: 4}}", tmp_path)
    first, then = submit.planned_arrays(scale, cluster, found, plan(scale, found, monkeypatch), largest=7)
    assert sorted(task.key for array in [*first, *then] for task in array.tasks) == sorted(task.key for task in found)
    assert all(len(array.tasks) <= 7 for array in first)
    assert {task.experiment for array in then for task in array.tasks} == {"dials", "quadratic", "vit", "width"}
    (xor,) = (array for array in first if array.tasks[0].experiment == "xor")
    assert (xor.resources.processors, xor.resources.memory, xor.resources.time) == (4, "4096M", "0-01:00:00")
    # 1.5 · 2 hours, rounded up, and two hours for what the plan leaves out.
    assert {array.resources.time for array in first if array is not xor} == {"0-04:00:00", "0-02:00:00"}
    assert len({array.folder for array in [*first, *then]}) == len(first) + len(then)
