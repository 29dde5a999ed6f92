"""What comes from others cannot run code here, or write outside the project (docs/security.md)."""

import os
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from iterlin_lab.runs import workers as runtime
from iterlin_lab.runs.splits import read_data
from tests.clone import ROOT, Clone

CODE = [path for folder in ("src", "stages", "benchmarks") for path in (ROOT / folder).rglob("*.py")]


class Executes:
    """What leaves a file behind when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("executed"),)


def test_the_object_of_these_tests_does_execute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Executes()))
    assert Path("executed").exists()


def test_no_code_of_ours_unpickles_or_lets_others_choose_a_class():
    text = {str(path): path.read_text() for path in CODE}
    assert len(text) > 50
    for name, code in text.items():
        assert not re.search(r"\b(pickle|dill|joblib|read_pickle|eval\(|exec\(|shell=True|os\.system)\b", code), name
        assert len(re.findall(r"np\.(load|savez?)\(", code)) == code.count("allow_pickle=False)"), name
        assert set(re.findall(r"YAML\((.*?)\)", code)) <= {'typ="safe"', 'typ="safe", pure=True'}, name


@pytest.mark.parametrize("name", ["images", "labels", "official_test"])
def test_a_data_file_with_objects_is_refused_and_not_unpickled(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    arrays = {"images": np.zeros((2, 1, 1, 1)), "labels": np.zeros(2, int), "official_test": np.zeros(2, bool)}
    np.savez("data.npz", **arrays)
    assert read_data(Path("data.npz")).keys() == arrays.keys()
    np.savez("data.npz", allow_pickle=True, **arrays | {name: np.array([Executes(), Executes()], object)})
    with pytest.raises(
        SystemExit, match=r"^data.npz is not what the stage prepare has written \(Object arrays cannot be .*"
    ):
        read_data(Path("data.npz"))
    assert not Path("executed").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"labels": np.zeros(3, int)}, "its images, labels and mask do not belong together"),
        ({"images": np.full((2, 1, 1, 1), np.nan)}, "are not numbers"),
        ({"images": np.full((2, 1, 1, 1), "x")}, "are not numbers"),
        ({"labels": np.array([0, 10**9])}, "its labels are no classes"),
        ({"labels": np.array([0, -1])}, "its labels are no classes"),
    ],
)
def test_a_data_file_that_does_not_fit_together_is_one_line(tmp_path, change, reason):
    arrays = {"images": np.zeros((2, 1, 1, 1)), "labels": np.zeros(2, int), "official_test": np.zeros(2, bool)}
    np.savez(tmp_path / "data.npz", **arrays | change)
    with pytest.raises(SystemExit, match=reason):
        read_data(tmp_path / "data.npz")


def test_a_stage_that_meets_such_a_file_ends_with_its_line(tmp_path):
    clone = Clone(tmp_path, "smoke")
    (clone.folder / "data").mkdir()
    np.savez(clone.folder / "data/smoke.npz", images=np.array([Executes()], object), allow_pickle=True)
    done = clone.run(sys.executable, "stages/regime.py", check=False, DVC_STAGE="regime@smoke")
    assert done.returncode == 1
    assert len([line for line in done.stderr.splitlines() if line.startswith("data/smoke.npz is not what")]) == 1
    assert "Traceback" not in done.stderr
    assert not list(clone.folder.rglob("executed"))


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone beside a folder that must stay as it is."""
    folder = tmp_path_factory.mktemp("security")
    (folder / "victim/check.txt").mkdir(parents=True)
    for name in ("victim/file", "victim.npz", "victim/regime.json", "victim/check.txt/file", "tgn"):
        (folder / name).write_text("precious")
    clone = Clone(folder / "clone", "smoke")
    return clone


def outside(clone):
    """What lies beside the clone."""
    folder = clone.folder.parent
    return {
        str(path.relative_to(folder)): path.is_file() and path.read_text()
        for path in folder.rglob("*")
        if clone.folder not in (path, *path.parents)
    }


REPRO = [["dvc", "repro", "-s", "-f", "{stage}"], ["dvc", "repro"]]
COMMANDS = [
    *REPRO,
    ["dvc", "repro", "-s", "-f", "k_sweep"],
    ["dvc", "exp", "run", "-s", "-f", "k_sweep"],
    ["dvc", "status"],
]
UP = "../../../../victim"
HOSTILE = {
    "K": ('periods: ["1", "10", "inf"], num_seeds', f'periods: ["1", "{UP}"], num_seeds', f"sweep@smoke-k_sweep-{UP}"),
    "K inside": (
        'periods: ["1", "10", "inf"], num_seeds',
        'periods: ["1", "../../../src"], num_seeds',
        "sweep@smoke-k_sweep-../../../src",
    ),
    "variant": ('variants: ["0.5", pytorch]', f'variants: ["{UP}"]', f"rescaled@smoke-sensitivity-{UP}"),
    "scale": ("    name: smoke", "    name: ../../victim", "check@../../victim"),
    "network": ("&smoke-net {name: lenet,", f'&smoke-net {{name: "{UP}",', "regime@smoke"),
    "data": (
        "&smoke-data {name: digits,",
        f'&smoke-data {{name: "{UP}",',
        "prepare@smoke",
    ),
    "command": (
        'periods: ["1", "10", "inf"], num_seeds',
        'periods: ["1", "$(touch executed)", "; touch executed", "`touch executed`"], num_seeds',
        "sweep@smoke-k_sweep-; touch executed",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_in_params_yaml_leads_out_of_the_project_or_runs_a_command(clone, name):
    old, new, stage = HOSTILE[name]
    before = outside(clone)
    assert "victim/file" in before
    committed = clone.run("git", "status", "--short").stdout
    clone.edit(old, new)
    try:
        for command in COMMANDS if name == "K" else REPRO:
            done = clone.run(*(part.format(stage=stage) for part in command), check=False)
            assert done.returncode != 0, done.stdout
            assert outside(clone) == before, command
    finally:
        clone.edit(new, old)
    assert not list(clone.folder.rglob("executed"))
    assert clone.run("git", "status", "--short").stdout == committed


def test_every_stage_runs_in_a_folder_that_is_spelt_with_the_names_in_its_paths():
    for name, stage in YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"].items():
        paths = " ".join([*stage["deps"], *map(str, stage.get("outs", []))])
        names = [*(f"${{item.{axis}}}" for axis in stage["matrix"]), *sorted(set(re.findall(r"\${scale.*?}", paths)))]
        assert stage["wdir"] == "/".join(f"{name}/.." for name in names), name
        assert stage["vars"] == [".dvc/project.yaml"], name


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_compiled_programs_come_from_no_folder_that_others_may_write(tmp_path, monkeypatch, mode):
    monkeypatch.chdir(tmp_path)
    folder = runtime.compilation_cache()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(mode)
    with pytest.raises(SystemExit, match="may be written by other users, who could run code through it: remove it"):
        runtime.compilation_cache()


def test_nor_from_one_of_another_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(SystemExit, match="belongs to another user, who could run code through it: remove it"):
        runtime.compilation_cache()


def test_the_page_of_mlflow_answers_this_machine_unless_told_otherwise():
    makefile = (ROOT / "Makefile").read_text()
    assert "\nHOST ?= 127.0.0.1\n" in makefile
    assert "mlflow server --host $(HOST) " in makefile
