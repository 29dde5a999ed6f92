import ast

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


SAID_IN_DVC_YAML = {"src/iterlin/config.py", "src/iterlin/layout.py"}  # under params and outs


def imported(file, found=frozenset()):
    """The modules of ours that a file imports, and those that they import."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("iterlin."):
            path = "src/" + node.module.replace(".", "/")
            module = f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"
            if module not in found | SAID_IN_DVC_YAML:
                found = imported(module, found | {module})
    return found


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_the_code_that_it_runs(name):
    stage = STAGES[name]
    assert stage["cmd"] == f"python stages/{name}.py"
    assert stage["desc"]
    runs = imported(f"stages/{name}.py") | {f"stages/{name}.py"}
    assert not {file for file in runs if not any(file == dep or file.startswith(f"{dep}/") for dep in stage["deps"])}
