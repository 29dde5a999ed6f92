import ast
import re

import pytest
from ruamel.yaml import YAML

from tests.clone import ROOT, Clone

STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
PRESETS = YAML(typ="safe").load(ROOT / "params.yaml")["presets"]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_at_most_60_stages_and_can_be_traced(tmp_path, preset):
    clone = Clone(tmp_path, preset)
    stages = clone.run("dvc", "stage", "list", "--name-only").stdout.split()
    assert len(stages) <= 60
    assert {stage.split("@")[1].split("-")[0] for stage in stages} == {preset}
    assert len(stages) > len(PRESETS[preset]["k_sweep"]["periods"])
    assert clone.repro("-s", f"check@{preset}") == {"check"}


def test_a_network_that_cannot_take_the_data_is_one_line(tmp_path):
    clone = Clone(tmp_path, "smoke")
    clone.edit("channels: [4, 4], kernel: 3, padding: SAME", "channels: [4, 4], kernel: 5, padding: VALID")
    done = clone.run("dvc", "repro", check=False)
    assert done.returncode != 0
    assert "params.yaml: scale.net: images of 8×8 are too small for two 5×5 convolutions" in done.stderr
    assert "prepare_data" not in done.stdout


def test_every_number_of_the_papers_preset_has_its_source_or_is_called_assumed():
    lines = (ROOT / "params.yaml").read_text().split("  paper: &paper\n")[1].split("\nscale:")[0].splitlines()
    values = [line for line in lines if not line.rstrip().endswith(":") and "name: paper" not in line]
    assert len(values) > 20
    assert not [line for line in values if not re.search(r" # .*([TAW] (fig\.|§|Algorithm|[A-C]\.)|assumed)", line)]


def test_a_run_of_more_than_an_hour_is_started_only_on_request(tmp_path):
    clone = Clone(tmp_path, "smoke")
    clone.edit("gradient_descent}, num_steps: 300", "gradient_descent}, num_steps: 2000000000")
    done = clone.run("iterlin", "repro", check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("nothing was started. To start it: make repro YES=1")
    assert "Running" not in done.stdout
    rows = {line.split("  ")[0]: line.split() for line in clone.run("iterlin", "plan").stdout.splitlines()}
    assert rows["sensitivity, η × 2"][4:6] == ["1", "4"]
    assert int(rows["all"][2].replace(",", "")) > 10
    # On request DVC starts; here the first stage refuses the network.
    clone.edit("channels: [4, 4], kernel: 3, padding: SAME", "channels: [4, 4], kernel: 5, padding: VALID")
    done = clone.run("iterlin", "repro", check=False, YES="1")
    assert "Running stage 'check@smoke'" in done.stdout
    assert "too small for two 5×5 convolutions" in done.stderr


SAID_IN_DVC_YAML = ("src/iterlin/config.py", "src/iterlin/settings/", "src/iterlin/layout.py")  # under params and outs


def modules(file):
    """The modules of ours that a file imports, or names with a function that other processes are to run."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("iterlin."):
            yield node.module
        elif isinstance(node, ast.Constant) and (named := re.fullmatch(r"(iterlin(?:\.\w+)+):\w+", str(node.value))):
            yield named[1]


def imported(file, found=frozenset()):
    """The files of these modules, and of those that they import."""
    for name in modules(file):
        path = "src/" + name.replace(".", "/")
        module = f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"
        if module not in found and not module.startswith(SAID_IN_DVC_YAML):
            found = imported(module, found | {module})
    return found


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_the_code_that_it_runs(name):
    stage = STAGES[name]
    assert stage["cmd"] == f"exec python stages/{name}.py"
    assert stage["desc"]
    runs = imported(f"stages/{name}.py") | {f"stages/{name}.py"}
    assert not {file for file in runs if not any(file == dep or file.startswith(f"{dep}/") for dep in stage["deps"])}
