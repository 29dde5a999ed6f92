"""The tasks of a cluster: which there are, what each of them reads, and where they stand. No SLURM is needed."""

import json

import pytest

from iterlin_lab.cluster import slurm
from iterlin_lab.cluster.arrays import Array, arrays, next_folders, write
from iterlin_lab.cluster.settings import Resources
from iterlin_lab.cluster.shown import table
from iterlin_lab.cluster.states import DONE, FAILED, KEPT, OPEN, RUNNING, STOPPED, State, forget_finished, states
from iterlin_lab.cluster.tasks import is_kept, tasks, waits_for
from iterlin_lab.config import load
from iterlin_lab.experiments import EXPERIMENTS, chosen
from iterlin_lab.files import alone, held
from iterlin_lab.planning.plan import cells_of
from iterlin_lab.runs import computed

PRESETS = load().presets


@pytest.mark.parametrize("name", ["smoke", "laptop", "desk", "paper"])
def test_every_stage_of_an_experiment_has_tasks_and_no_two_are_the_same(name):
    found = tasks(PRESETS[name])
    assert {task.stage for task in found} == {
        stage for experiment in chosen(PRESETS[name]) for stage in experiment.stages(PRESETS[name])
    }
    assert set(cells_of(PRESETS[name])) <= {task.stage for task in found}
    assert len({task[:2] for task in found}) == len(found)


def test_tasks_with_the_same_key_train_the_same():
    recipes, number = {}, 0
    for task in tasks(PRESETS["laptop"]):
        if task.number is not None:
            cell = EXPERIMENTS[task.experiment].trained(PRESETS["laptop"])[task.number]
            assert recipes.setdefault(task.key, cell.recipes) == cell.recipes
            number += 1
    assert len(recipes) == number - 1  # TGN is E-DAMPCE with λ = 0


def test_a_task_keeps_its_key_when_others_come_before_it_and_loses_it_with_its_settings():
    scale = PRESETS["smoke"]

    def keys(**sweep):
        other = scale.model_copy(update={"k_sweep": scale.k_sweep.model_copy(update=sweep)})
        return {task.title: task.key for task in tasks(other) if task.experiment == "k_sweep"}

    plain, more, longer = keys(), keys(periods=["1", "5", "10", "inf"]), keys(num_steps=301)
    assert plain.items() <= more.items()
    assert set(plain.values()).isdisjoint(longer.values())


def test_what_reads_results_waits_until_they_are_gathered():
    scale, stages = PRESETS["smoke"], {"train@smoke-augmentation"}
    assert waits_for(EXPERIMENTS["probes"], scale, stages) == ["augmentation"]
    assert waits_for(EXPERIMENTS["probes"], scale, {"train@smoke-adam"}) == []
    assert waits_for(EXPERIMENTS["adam"], scale, stages) == []


def test_nothing_is_kept_where_there_are_no_data(tmp_path, monkeypatch):
    scale, pipeline = PRESETS["smoke"], computed.PIPELINE.resolve()
    monkeypatch.setattr(computed, "PIPELINE", pipeline)
    monkeypatch.chdir(tmp_path)
    assert not any(is_kept(task, scale, EXPERIMENTS[task.experiment].trained(scale)) for task in tasks(scale))


def test_the_table_counts_states_and_names_what_failed():
    one, two, *_ = (task for task in tasks(PRESETS["smoke"]) if task.experiment == "k_sweep")
    other = next(task for task in tasks(PRESETS["smoke"]) if task.experiment == "xor")
    found = [(one, State(DONE)), (two, State(FAILED, "no memory (log)")), (other, State(RUNNING, "on n1 for 0:10"))]
    lines = [line.split() for line in table(found, {one: 9.0, two: 3.0}).splitlines()]
    assert lines[0] == ["experiment", *(DONE, RUNNING, "failed"), "left,", "likely"]
    assert lines[2:5] == [["k_sweep", "1", "1", "3", "h"], ["xor", "1", "0", "min"], ["all", "1", "1", "1", "3", "h"]]
    assert " ".join(lines[5]) == f"failed: {two.title}, no memory (log)"
    assert " ".join(lines[6]) == f"running: {other.title}, on n1 for 0:10"
    assert OPEN not in lines[0]


def test_a_stage_runs_as_long_as_its_lock_is_held(tmp_path):
    lock = tmp_path / "lock"
    assert not held(lock)
    with alone(lock, "it"):
        assert held(lock)
    assert not held(lock)


def test_slurm_that_does_not_answer_is_a_warning(tmp_path, monkeypatch, capsys):
    (tmp_path / "squeue").write_text(
        "#!/bin/sh\necho 'squeue: error: a' >&2\necho 'squeue: fatal: no controller' >&2\nexit 1\n"
    )
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert slurm.jobs() == []
    assert capsys.readouterr().err == "warning: squeue: fatal: no controller: what waits or runs is not known\n"


def test_tasks_are_plain_values():
    (task, *_) = tasks(PRESETS["laptop"])
    assert json.loads(json.dumps(task)) == list(task)


def test_what_a_job_has_left_says_how_it_ended(tmp_path, monkeypatch):
    scale, array = PRESETS["smoke"], next(next_folders())
    monkeypatch.setattr(computed, "PIPELINE", computed.PIPELINE.resolve())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    sweep = [task for task in tasks(scale) if task.experiment == "k_sweep"]
    write(Array(array, sweep, Resources()), scale)
    (array / "0.log").touch()
    (array / "1.log").touch()
    (array / "failed-1.txt").write_text("no memory")

    def found():
        return [state for task, state in states(scale, {task.stage for task in sweep}) if task in sweep]

    log = str(array / "0.log")
    assert found() == [State(STOPPED, log), State(FAILED, f"no memory ({array}/1.log)"), State(OPEN)]
    (array / "ended-0").touch()
    assert found()[0] == State(OPEN)


def test_an_array_is_forgotten_once_all_of_its_tasks_have_ended_or_are_finished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale = PRESETS["smoke"]
    one, two, three, *_ = tasks(scale)
    folders = next_folders()
    kept = [Array(next(folders), held, Resources()) for held in ([one, two], [two, three], [one])]
    for array in kept:
        write(array, scale)
    forget_finished([(one, State(DONE)), (two, State(RUNNING)), (three, State(KEPT))])
    assert [folder.name for folder, _ in arrays()] == ["000003", "000002", "000001"]
    (kept[0].folder / "ended-1").touch()
    forget_finished([(one, State(DONE)), (two, State(RUNNING)), (three, State(KEPT))])
    assert [folder.name for folder, _ in arrays()] == ["000003", "000002"]
    forget_finished([(task, State(DONE)) for task in (one, two, three)])
    assert [folder.name for folder, _ in arrays()] == ["000003"]
