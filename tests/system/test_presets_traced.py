"""The presets as DVC and `iterlin plan` see them, before anything is trained."""

import pytest
from ruamel.yaml import YAML

from tests.clone import ROOT, SWEEP, Clone

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
    assert "params.yaml: scale.net: the network lenet cannot be built: images of 8×8 are too small for" in done.stderr
    assert "prepare@" not in done.stdout


def test_a_run_of_more_than_an_hour_is_started_only_on_request(tmp_path):
    clone = Clone(tmp_path, "smoke", *SWEEP)
    clone.edit("gradient_descent}, num_steps: 300", "gradient_descent}, num_steps: 2000000000")
    done = clone.run("iterlin", "repro", check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("nothing was started. To start it: make repro YES=1")
    assert "Running" not in done.stdout
    rows = {line.split("  ")[0]: line.split() for line in clone.run("iterlin", "plan").stdout.splitlines()}
    assert rows["sensitivity, around: 0.5"][3:5] == ["1", "4"]
    assert int(rows["all"][2].replace(",", "")) > 10
    # On request DVC starts; here the first stage refuses the network.
    clone.edit("channels: [4, 4], kernel: 3, padding: SAME", "channels: [4, 4], kernel: 5, padding: VALID")
    done = clone.run("iterlin", "repro", check=False, YES="1")
    assert "Running stage 'check@smoke'" in done.stderr
    assert "too small for two 5×5 convolutions" in done.stderr
