import pytest
from ruamel.yaml import YAML

from tests.clone import ROOT, Clone

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


def test_every_stage_depends_on_its_script_and_is_described():
    stages = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
    for name, stage in stages.items():
        assert f"stages/{name}.py" in stage["deps"]
        assert stage["cmd"] == f"python stages/{name}.py"
        assert stage["desc"]
