"""`iterlin doctor`: what is wrong, each with its remedy."""

import pytest

from iterlin_lab.config import load
from iterlin_lab.planning import doctor
from tests.clone import ROOT, run_in
from tests.server import free_port

SCALE = load(ROOT / "params.yaml").presets["smoke"]


def test_a_machine_that_has_everything_is_told_so():
    done = run_in(ROOT, "iterlin", "doctor")
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines] == ["packages", "devices", "memory", "disk", "data", "MLflow"]
    assert all(line.startswith("ok ") for line in lines)
    assert "runs side by side, on cpu" in lines[1]


def test_the_version_is_that_of_the_package():
    assert run_in(ROOT, "iterlin", "--version").stdout == "iterlin 0.1.0\n"


def test_a_server_that_is_down_is_named_with_the_remedy_and_the_status():
    done = run_in(ROOT, "iterlin", "doctor", check=False, MLFLOW_TRACKING_URI=f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 1
    *_, last = done.stdout.splitlines()
    assert last.startswith("!!  MLflow     the server at MLFLOW_TRACKING_URI does not answer (")
    assert last.endswith("start it, or unset MLFLOW_TRACKING_URI; training goes on without it")


def test_other_versions_than_the_locked_ones_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "requirements.lock").write_text("jax==0.0.1 \\\n    --hash=sha256:0\njax==0.0.2\noptax==1.0\n")
    finding = doctor._packages()
    assert "jax " in finding.found
    assert "equinox" not in finding.found
    assert finding.remedy.startswith("remove .venv and run make repro")


@pytest.mark.parametrize("there", [False, True])
def test_data_that_are_not_here_are_named_with_their_folder(tmp_path, monkeypatch, there):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    if there:
        (tmp_path / "mnist").mkdir()
    finding = doctor._data(SCALE.model_copy(update={"data": SCALE.data.model_copy(update={"name": "mnist"})}))
    assert bool(finding.remedy) is not there
    assert str(tmp_path) in finding.found


def test_a_full_disk_is_named_with_the_room_that_is_needed(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: doctor.shutil._ntuple_diskusage(10, 10, 0))
    (disk,) = [finding for finding in doctor.examine(SCALE) if finding.subject == "disk"]
    assert str(disk) == "!!  disk       0 GiB are free: make room for 5 GiB"
