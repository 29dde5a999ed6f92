"""MLflow as a view of DVC's outputs, with its own database."""

import json
import re
import subprocess
import sys
import time

import pandas as pd
import pytest

from tests.clone import ROOT, Clone, environment
from tests.system.shown import COMPLETE, STAGES, client, found, levels, pages, shown, sync

CELLS = {"K = 10": "k_sweep/10", "K = 1, around: 0.5": "sensitivity/0.5/1", "K = 10, around: 0.5": "sensitivity/0.5/10"}
PERIODS = {"K = 10": "10", "K = 1, around: 0.5": "2", "K = 10, around: 0.5": "20"}  # the steps of a phase: ηK stays


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Three trained cells, shown while they trained and not afterwards."""
    clone = Clone(tmp_path_factory.mktemp("smoke"), "smoke")
    clone.repro(*STAGES, ITERLIN_LIVE_AFTER="0")
    return clone


@pytest.fixture(scope="module")
def own(clone):
    """The client of the database that is there without a server."""
    return client(f"sqlite:///{clone.folder}/mlflow.db")


def test_a_long_stage_is_shown_while_it_trains_until_its_cell_is(clone, own):
    live = shown(own)
    of_stages = {"K = 10": ("run 0", "run 1"), "around: 0.5": ("run 0", "run 1", "run 0 of cell 2", "run 1 of cell 2")}
    trained = {f"{name}, {run} (live)" for name, runs in of_stages.items() for run in runs}
    assert set(live) == {f"{name} (live)" for name in of_stages} | trained
    whole = live["K = 10 (live)"]
    assert (whole.data.metrics["runs/trained"], whole.data.metrics["runs/training"]) == (2, 0)
    rows = pd.read_csv(clone.folder / "results/smoke/k_sweep/10/runs.csv")
    for run, accuracy in enumerate(rows["network_final"]):
        part = live[f"K = 10, run {run} (live)"]
        assert part.data.tags["mlflow.parentRunId"] == whole.info.run_id
        assert part.data.metrics["network/test_accuracy"] == pytest.approx(accuracy)
        assert 10 ** part.data.metrics["log10_step"] == pytest.approx(rows["steps"][run])
    assert sync(clone) == (3, "")
    assert levels(own) == COMPLETE


def test_runs_are_nested_and_hold_what_dvc_has(clone, own):
    runs = shown(own)
    of = {page.experiment_id: name for name, page in pages(own).items()}
    for name, path in CELLS.items():
        cell = runs[name]
        assert "mlflow.parentRunId" not in cell.data.tags
        assert of[cell.info.experiment_id] == path.split("/")[0]
        assert cell.data.tags["path"] == f"results/smoke/{path}"
        rows = pd.read_csv(clone.folder / "results/smoke" / path / "runs.csv")
        curves = pd.read_csv(clone.folder / "results/smoke" / path / "curves.csv")
        assert cell.data.metrics["test_accuracy/network_final"] == pytest.approx(rows["network_final"].mean())
        assert cell.data.metrics["accuracy"] == pytest.approx(rows["network_validation_stopped"].mean())
        assert cell.data.metrics["proxy_accuracy"] == pytest.approx(rows["proxy_validation_stopped"].mean())
        assert 10 ** cell.data.metrics["log10_K"] == pytest.approx(float(PERIODS[name]))
        for row in rows.to_dict("records"):
            seed = runs[f"{name}, run {row['run']}"]
            assert seed.data.tags["mlflow.parentRunId"] == cell.info.run_id
            assert seed.data.tags["outcome"] == row["outcome"]
            assert seed.data.params | {"run": str(row["run"])} == seed.data.params
            assert seed.data.params["K"] == cell.data.params["K"] == PERIODS[name]
            assert seed.inputs.dataset_inputs[0].dataset.name == "digits"
            assert seed.data.metrics["test_accuracy/proxy_validation_stopped"] == row["proxy_validation_stopped"]
            history = own.get_metric_history(seed.info.run_id, "network/test_accuracy")
            curve = curves[curves["run"] == row["run"]]
            assert [point.step for point in history] == curve["step"].tolist()
            assert [point.value for point in history] == curve["network_test_accuracy"].tolist()
            axis = own.get_metric_history(seed.info.run_id, "log10_step")
            assert [10**point.value for point in axis] == pytest.approx(curve["step"][curve["step"] > 0].tolist())
        assert own.get_metric_history(cell.info.run_id, "log10_step")
    rates = [float(runs[name].data.params["learning_rate"]) for name in CELLS]
    assert rates[1] == rates[2] == pytest.approx(rates[0] / 2)


def test_a_run_that_trained_here_has_its_time_and_machine(clone, own):
    origin = json.loads((clone.folder / ".cache/cells/results-smoke-k_sweep-10.json").read_text())
    logs = [(clone.folder / run / "log.jsonl").read_text().splitlines() for run in origin["runs"]]
    runs, ends = shown(own), []
    for number, (head, *records) in enumerate(map(json.loads, log) for log in logs):
        seed = runs[f"K = 10, run {number}"]
        seconds = records[-1]["seconds"]
        assert (seed.info.end_time - seed.info.start_time) / 1000 == pytest.approx(seconds, abs=0.002)
        assert seed.data.metrics["time/training_seconds"] == pytest.approx(seconds)
        assert seed.data.metrics["time/steps_per_second"] == pytest.approx(records[-1]["step"] / seconds)
        assert {
            name: str(head[name]) for name in ("device", "processor", "cores", "jax")
        }.items() <= seed.data.tags.items()
        ends.append(seed.info.end_time)
    assert runs["K = 10"].info.end_time == max(ends)


def test_cells_that_came_from_elsewhere_have_no_time_and_no_machine(clone, tmp_path):
    clone.run("mv", ".cache/cells", ".cache/elsewhere")
    address = f"sqlite:///{tmp_path}/other.db"
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (3, "")
    clone.run("mv", ".cache/elsewhere", ".cache/cells")
    for run in shown(client(address)).values():
        assert run.info.end_time == run.info.start_time
        assert "device" not in run.data.tags
        assert not [name for name in run.data.metrics if name.startswith("time/")]


def test_where_there_is_nothing_new_nothing_slow_is_imported(clone, own):
    script = (
        "import sys; from iterlin_lab.cli import main; main(); print({'mlflow', 'jax', 'pandas'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", script, "sync"]
    env = environment(PYTHONPATH=str(clone.folder / "src"))
    done = subprocess.run(command, cwd=clone.folder, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 new cells")
    assert done.stdout.endswith("set()\n")


def test_what_was_lost_is_shown_again(clone, own):
    lost = shown(own)["K = 10"].info.run_id
    own.delete_run(lost)
    assert sync(clone) == (0, "")
    assert sync(clone, "--again") == (1, "")
    whole = shown(own)["K = 10"].info
    assert (whole.status, whole.run_id != lost) == ("FINISHED", True)


def test_two_processes_make_one_database(clone, tmp_path):
    address = f"sqlite:///{tmp_path}/two.db"
    env = environment(PYTHONPATH=str(clone.folder / "src"), MLFLOW_TRACKING_URI=address)
    both = [subprocess.Popen(["iterlin", "sync"], cwd=clone.folder, env=env, stdout=-1, stderr=-1) for _ in range(2)]
    answers = [process.communicate() for process in both]
    assert sorted(out.split(b" ")[0] for out, _ in answers) == [b"0", b"3"]
    assert {error for _, error in answers} == {b""}
    assert levels(client(address)) == COMPLETE
    (tmp_path / "two.db").unlink()
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (3, "")  # the file is known to be another one


def cells_of(at):
    """The names of all cells, each with the hash of the run that it is nested in, if it came out otherwise since."""
    cells = [run for run in found(at) if run.data.tags["level"] == "cell"]
    hashes = {run.info.run_id: run.data.tags["output_hash"] for run in cells}
    for run in cells:
        assert (run.data.tags["present"] == "no") == ("mlflow.parentRunId" in run.data.tags)
    keys = [(run.info.run_name, run.data.tags["output_hash"]) for run in cells]
    return dict(zip(keys, [hashes.get(run.data.tags.get("mlflow.parentRunId")) for run in cells], strict=True))


def test_a_cell_is_shown_once_whatever_else_is_edited(clone, tmp_path):
    params, address = clone.folder / "params.yaml", f"sqlite:///{tmp_path}/edited.db"
    text, at = params.read_text(), client(address)
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (3, "")
    before = cells_of(at)
    assert (sorted(name for name, _ in before), set(before.values())) == (sorted(CELLS), {None})
    for edit in (
        ("stability: 1.0, num_seeds: 3}", "stability: 0.9, num_seeds: 3}"),
        ("filters {num_drawn: 2", "filters {num_drawn: 3"),
        ("divergence_factor: 1.0e4, records_per_decade: 5}", "divergence_factor: 1.0e4, records_per_decade: 4}"),
    ):
        clone.edit(*edit)
        assert sync(clone, MLFLOW_TRACKING_URI=address) == (0, "")
        assert levels(at) == COMPLETE
    clone.repro("-s", "sweep@smoke-k_sweep-10")
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (1, "")
    (old,) = [hash for name, hash in before if name == "K = 10"]
    (new,) = [hash for name, hash in cells_of(at).keys() - before.keys()]
    assert cells_of(at) == before | {("K = 10", new): None, ("K = 10", old): new}
    params.write_text(text)
    clone.repro("-s", "sweep@smoke-k_sweep-10")
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (0, "")
    assert cells_of(at) == before | {("K = 10", new): old}


def test_the_best_cell_by_validation_is_the_model_that_has_a_name(clone, own):
    cells = [run for run in found(own) if run.data.tags["level"] == "cell"]
    best = max(cells, key=lambda run: run.data.metrics["validation_accuracy"])
    curves = pd.read_csv(clone.folder / best.data.tags["path"] / "curves.csv")
    mean = curves.pivot_table(index="step", columns="run", values="network_validation_accuracy").ffill().mean(axis=1)
    assert best.data.metrics["validation_accuracy"] == pytest.approx(mean.max())
    assert own.get_model_version_by_alias("iterlin-smoke", "best").run_id == best.info.run_id


def test_a_model_reproduces_the_accuracies_of_its_runs(clone, own):
    script = """
import json, sys, warnings
import mlflow, numpy as np
from iterlin_lab.config import load
from iterlin_lab.runs.training import initial, keys
mlflow.set_tracking_uri("sqlite:///mlflow.db")
model, scale, accuracies = mlflow.pyfunc.load_model(f"models:/{sys.argv[1]}"), load().scale, []
warnings.simplefilter("error")  # MLflow's own imports warn
for run in range(2):
    split_key, init_key, _ = keys(scale.seed, run)
    data = dict(np.load("data/smoke.npz"))
    _, splits, of = initial(scale.net.model_dump(), scale.data.sizes, data, split_key, init_key)
    x, y = (np.asarray(part) for part in splits["test"])
    probabilities = model.predict((x * of["deviation"] + of["mean"]).astype("float32"), params={"run": run})
    accuracies.append(float((probabilities.argmax(1) == y).mean()))
print(json.dumps(accuracies))
"""
    (output,) = shown(own)["K = 10"].outputs.model_outputs
    done = clone.run(sys.executable, "-c", script, output.model_id)
    rows = pd.read_csv(clone.folder / "results/smoke/k_sweep/10/runs.csv")
    assert json.loads(done.stdout) == pytest.approx(rows["network_final"].tolist(), abs=1 / 300 + 1e-6)


def test_the_example_of_the_documentation_runs(clone, own):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/mlflow.md").read_text(), re.DOTALL)
    done = clone.run(sys.executable, "-c", example.replace("laptop", "smoke"))
    labels = re.fullmatch(r"\[([0-9] ){4}[0-9]\]", done.stdout.strip())
    assert labels, done.stdout


@pytest.mark.parametrize(("word", "status"), [("trained\n", "FINISHED"), ("", "KILLED")])
def test_runs_appear_as_their_logs_grow(clone, own, word, status):
    folder = clone.folder / ".cache/training/these/0"
    folder.mkdir(parents=True, exist_ok=True)
    head = {"stage": "sweep@smoke-k_sweep-inf", "run": 0, "started": time.time()}
    record = {"seconds": 1, "step": 0, "network_test_accuracy": 0.5, "proxy_test_accuracy": 0.4}
    record |= {"network_train_loss": 1.0, "feature_updates": 0}
    (folder / "log.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(record)}\n")
    env = environment(PYTHONPATH=str(clone.folder / "src"), DVC_STAGE="sweep@smoke-k_sweep-inf", ITERLIN_LIVE_AFTER="0")
    command = [sys.executable, "-m", "iterlin_lab.mlflow.live", "K = inf", str(head["started"] - 1)]
    with subprocess.Popen(command, cwd=clone.folder, env=env, stdin=-1, stderr=-1, text=True) as watcher:
        deadline = time.monotonic() + 30
        name = "K = ∞, run 0 (live)"
        while not (run := shown(own).get(name)) or not run.data.metrics or run.info.status != "RUNNING":
            assert time.monotonic() < deadline
            time.sleep(0.3)
        with (folder / "log.jsonl").open("a") as log:
            log.write(json.dumps(record | {"step": 1, "network_test_accuracy": 0.6}) + "\n{")
        _, errors = watcher.communicate(word)
    assert (watcher.returncode, errors) == (0, "")
    runs = shown(own)  # and not one more of a name: the attempt before is gone
    run = runs["K = ∞, run 0 (live)"]
    assert {run.info.status, runs["K = ∞ (live)"].info.status} == {status}
    history = own.get_metric_history(run.info.run_id, "network/test_accuracy")
    assert [(point.step, point.value) for point in history] == [(0, 0.5), (1, 0.6)]
    for name in ("K = ∞, run 0 (live)", "K = ∞ (live)"):
        own.delete_run(runs[name].info.run_id)
    clone.run("rm", "-r", str(folder))
