"""The pipeline at the smoke preset, through DVC and MLflow themselves. Each test goes on where the last one ended."""

import datetime
import json
import re
import socket
import zipfile

import pandas as pd
import pytest

from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.report.names import period_text, typeset
from tests.clone import Clone, run_in
from tests.system.shown import cells_of_smoke, found, pages
from tests.system.shown import client as client_of

READERS = {"tables", "plots", "plots_page", "claims", "report", "track", "track_report"}
EDITED = READERS - {"plots_page"}  # which run after an edit of params.yaml


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("smoke"), "smoke")
    clone.first = frozenset(clone.repro())
    return clone


@pytest.fixture
def client(clone):
    return client_of(f"sqlite:///{clone.folder / 'mlflow.db'}")


def cells(client):
    """Its cells, by name."""
    return {run.info.run_name: run for run in found(client) if run.data.tags["level"] == "cell"}


def table(clone, name):
    return pd.read_csv(clone.folder / f"reports/smoke/tables/{name}.csv")


def test_one_command_makes_everything(clone):
    cells = {f"sweep@smoke-k_sweep-{K}" for K in ("1", "10", "inf")} | {
        f"rescaled@smoke-sensitivity-{f}" for f in ("0.5", "pytorch")
    }
    whole = [one for one in EXPERIMENTS.values() if not one.split and one.name != "finer_flow"]  # smoke has no flow
    ways = {f"{one.stage}@smoke-{one.name}" for one in whole}
    assert clone.first == cells | READERS | ways | {"check", "prepare", "prepare_own@smoke-mnist", "regime"}
    figures = {path.name for path in (clone.folder / "reports/smoke/figures").iterdir()}
    assert {"k_sweep_curves.svg", "k_sweep_curves.png", "sensitivity.svg"} <= figures
    page = (clone.folder / "reports/smoke/index.html").read_text()
    assert page.count("<svg") == 38
    assert "<img" not in page
    assert table(clone, "k_sweep")["K"].map(period_text).tolist() == ["1", "10", "∞", "TGN"]


def test_a_second_time_there_is_nothing_to_do(clone):
    assert clone.repro() == set()
    assert clone.run("dvc", "status").stdout.strip() == "Data and pipelines are up to date."


def test_no_output_knows_where_or_when_it_was_made(clone):
    words = [str(clone.folder), socket.gethostname(), str(datetime.date.today().year)]
    machine = re.compile(rb"\b(" + "|".join(map(re.escape, words)).encode() + rb")\b")
    outputs = clone.bytes_below("results") | clone.bytes_below("reports") | clone.bytes_below("tracking")
    del outputs["plots_page.html"]  # holds the Vega libraries, with their years
    outputs = {name: content for name, content in outputs.items() if not name.startswith("history/")}  # git's dates
    texts = {name: content for name, content in outputs.items() if name.endswith((".csv", ".json", ".md", ".html"))}
    assert len(texts) > 10
    assert not [name for name, content in texts.items() if machine.search(content)]


def test_the_data_have_the_same_bytes_whatever_python_wrote_them(clone):
    with zipfile.ZipFile(clone.folder / "data/smoke.npz") as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == ["images.npy", "labels.npy", "official_test.npy"]
    assert {entry.extract_version for entry in entries} == {20}  # ZIP64, of which releases of Python differ, is 45


def test_mlflow_shows_the_sweep(clone, client):
    shown = cells(client)
    assert set(shown) == cells_of_smoke()
    assert not [run for run in shown.values() if "mlflow.parentRunId" in run.data.tags]
    for name, data in {"K = 1": "smoke", "E-MNIST, K = 1": "smoke-mnist"}.items():
        card = json.loads((clone.folder / f"data/{data}.json").read_text())
        assert shown[name].inputs.dataset_inputs[0].dataset.digest == card["sha256"][:8]

    run = shown["K = 10"]
    assert run.data.params["K"] == "10"
    assert run.inputs.dataset_inputs[0].dataset.name == "digits"
    lock = (clone.folder / "dvc.lock").read_text()
    assert run.data.tags["output_hash"] in lock
    curves = table(clone, "k_sweep_curves").query("K == 10")
    for model in ("network", "proxy"):
        history = client.get_metric_history(run.info.run_id, f"{model}/test_accuracy")
        assert [point.step for point in history] == curves["step"].tolist()
        expected = curves[f"{model}_test_accuracy_mean"].tolist()
        assert [point.value for point in history] == pytest.approx(expected, rel=1e-5)


def test_mlflow_shows_the_report_whole_and_on_the_page_of_each_experiment(clone, client):
    evidence = json.loads((clone.folder / "reports/smoke/evidence.json").read_text())
    at = pages(client)
    assert set(at) == {*EXPERIMENTS} - {"finer_flow"} | {"iterlin/smoke"}
    (report,) = client.search_runs([at["iterlin/smoke"].experiment_id])
    assert report.data.params["data.num_train"] == "60"
    assert sum(report.data.metrics.values()) == len(evidence)
    assert "smoke/figures" in {item.path for item in client.list_artifacts(report.info.run_id, "smoke")}
    for name, figure in {"damp1d": "damp_quintic", "filters": "kernels", "k_sweep": "k_sweep_accuracy"}.items():
        tags, id = at[name].tags, EXPERIMENTS[name].ids[0]
        note = tags["mlflow.note.content"]
        for key in re.findall("viewStateShareKey=([^&]+)", note):
            state = json.loads(json.loads(tags[f"mlflow.sharedViewState.{key}"])["state"])
            assert [run.info.run_name for run in client.search_runs([at[name].experiment_id], state["searchFilter"])]
        assert note.startswith(id)
        own = [claim for key, claim in evidence.items() if key.startswith(f"{id}-")]
        assert own
        for claim in own:
            assert f"**{claim['verdict']}**: {typeset(claim['statement'])}" in note
        (run,) = client.search_runs([at[name].experiment_id], "tags.level = 'report'")
        assert f"{figure}.png" in {item.path for item in client.list_artifacts(run.info.run_id)}


def test_showing_it_again_adds_nothing(clone, client):
    before = {run.info.run_id for run in found(client)}
    assert clone.run("iterlin", "sync").stdout.startswith("0 new cells")
    assert {run.info.run_id for run in found(client)} == before


def test_the_trained_models_can_be_loaded(clone):
    script = """
from pathlib import Path
import jax, numpy as np
from iterlin_lab.config import load as load_params
from iterlin import accuracy
from iterlin_lab.runs.splits import draw_splits
from iterlin_lab.runs.training import keys
from iterlin_lab.nets.shared.saved import load
scale, data = load_params().scale, dict(np.load("data/smoke.npz"))
model, description, _ = load(Path("results/smoke/k_sweep/10/models/1.eqx"))
splits, (mean, deviation) = draw_splits(data, scale.data.sizes, keys(scale.seed, 1)[0])
assert (description["mean"], description["deviation"]) == (mean, deviation)
x, y = splits["test"]
print(accuracy(jax.vmap(model)(x), y))
"""
    measured = float(clone.run("python", "-c", script).stdout)
    kept = pd.read_csv(clone.folder / "results/smoke/k_sweep/10/runs.csv").set_index("run")
    assert measured == pytest.approx(kept.loc[1, "network_final"], abs=1e-6)


def test_the_bytes_do_not_depend_on_how_many_runs_share_the_machine(clone):
    before = clone.bytes_below("results/smoke/k_sweep/10")
    clone.run("rm", "-rf", ".cache/runs", "results/smoke/k_sweep/10")
    assert clone.repro("-f", "-s", "sweep@smoke-k_sweep-10", ITERLIN_WORKERS="2") == {"sweep@smoke-k_sweep-10"}
    assert clone.bytes_below("results/smoke/k_sweep/10") == before


def test_one_more_k_runs_that_cell_and_what_reads_it(clone, client):
    before, shown_before = clone.bytes_below("results/smoke/k_sweep"), set(cells(client))
    clone.edit('periods: ["1", "10", "inf"], num_seeds: 2}', 'periods: ["1", "10", "100", "inf"], num_seeds: 2}')
    assert clone.repro() == EDITED | {"check", "sweep@smoke-k_sweep-100"}
    assert before.items() <= clone.bytes_below("results/smoke/k_sweep").items()
    assert table(clone, "k_sweep")["K"].map(period_text).tolist() == ["1", "10", "100", "∞", "TGN"]
    assert set(cells(client)) == shown_before | {"K = 100"}


def test_a_k_that_is_removed_is_gone_from_tables_and_trains_nothing(clone):
    clone.edit('"10", "100", "inf"], num_seeds: 2}', '"10", "inf"], num_seeds: 2}')
    assert {"check", "tables", "plots", "report"} <= clone.repro() <= READERS | {"check"}
    assert table(clone, "k_sweep")["K"].map(period_text).tolist() == ["1", "10", "∞", "TGN"]
    assert 100 not in set(table(clone, "k_sweep_curves")["K"])


def test_one_more_seed_keeps_the_old_runs(clone):
    before = pd.read_csv(clone.folder / "results/smoke/k_sweep/10/runs.csv")
    clone.run("rm", "-rf", ".cache/runs")
    clone.edit('"10", "inf"], num_seeds: 2}', '"10", "inf"], num_seeds: 3}')
    assert clone.repro() == EDITED | {"check"} | {f"sweep@smoke-k_sweep-{K}" for K in ("1", "10", "inf")}
    after = pd.read_csv(clone.folder / "results/smoke/k_sweep/10/runs.csv")
    pd.testing.assert_frame_equal(after.head(2), before)
    assert after["run"].tolist() == [0, 1, 2]
    assert after["network_final"].nunique() == 3


def test_finished_runs_are_not_trained_again(clone):
    kept = {path.name for path in (clone.folder / ".cache/runs").iterdir()}
    clone.run("rm", "-rf", "results/smoke/k_sweep/10")
    assert clone.repro("-f", "-s", "sweep@smoke-k_sweep-10") == {"sweep@smoke-k_sweep-10"}
    assert {path.name for path in (clone.folder / ".cache/runs").iterdir()} == kept
    assert len(kept) == 9


def test_the_report_is_compared_with_the_committed_one(clone):
    done = clone.run("iterlin", "check-report", check=False)
    assert done.returncode == 1
    assert "reports/smoke/tables/k_sweep.csv is not in the last commit" in done.stderr
    clone.commit()
    done = clone.run("iterlin", "check-report")
    assert "not those of this code: none" in done.stdout
    assert "The verdicts and tables are the committed ones, within 0.001 in accuracy" in done.stdout

    path = clone.folder / "reports/smoke/tables/k_sweep.csv"
    kept = path.read_text()
    wrong = pd.read_csv(path)
    wrong.loc[wrong["K"] == 10, "network_final_mean"] += 0.1
    wrong.to_csv(path, index=False)
    clone.commit()
    done = clone.run("iterlin", "check-report", check=False)
    assert done.returncode == 1
    assert "not those of this code: tables@smoke" in done.stdout
    (line,) = done.stderr.strip().splitlines()[-1:]
    assert line.startswith("reports/smoke/tables/k_sweep.csv: gradient, 10.0, network_final_mean: ")
    assert line.endswith("recomputed")
    assert path.read_text() == kept


def test_another_clone_restores_everything_without_training(clone, tmp_path):
    clone.run("dvc", "remote", "add", "-d", "store", str(tmp_path / "store"))
    assert clone.run("dvc", "push").stdout.strip().endswith("files pushed")
    clone.commit()
    clone.run("git", "clone", "-q", str(clone.folder), str(tmp_path / "other"))
    run_in(tmp_path / "other", "dvc", "pull")
    done = run_in(tmp_path / "other", "dvc", "repro")
    ran = set(re.findall(r"Running stage '(\w+)@", done.stdout))
    assert "track" in ran  # it fills the new clone's MLflow
    assert ran <= READERS
    for folder in ("results", "reports"):
        restored = {
            str(path.relative_to(tmp_path / "other" / folder)): path.read_bytes()
            for path in (tmp_path / "other" / folder).rglob("*")
            if path.is_file() and "laptop" not in path.parts
        }
        assert restored.items() <= clone.bytes_below(folder).items()
        assert len(restored) > 10


def test_a_tracking_server_that_is_down_is_a_warning(clone):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    one = {"MLFLOW_TRACKING_URI": address, "ITERLIN_PIPELINE": "one"}
    done = clone.run("dvc", "repro", "-f", "-s", "track@smoke", **one)
    assert f"warning: MLflow at {address} does not show everything" in done.stderr
    assert "Try `iterlin sync` later" in done.stderr
    done = clone.run("dvc", "repro", "-f", "-s", "track_report@smoke", **one)
    assert "warning: MLflow" not in done.stderr  # once a pipeline is enough
    done = clone.run("dvc", "repro", "-f", "-s", "track_report@smoke", MLFLOW_TRACKING_URI=address)
    assert f"warning: MLflow at {address} does not show everything" in done.stderr
    assert len(json.loads((clone.folder / "tracking/smoke.json").read_text())) == 15
