"""Runs of an experiment whose examples are spread over several devices."""

import json

import numpy as np

from iterlin_lab.config import load
from tests.clone import ROOT, run_in

# In a process of its own, whose processor counts as two devices.
TRAIN = """
import json
from pathlib import Path
from iterlin_lab.config import load
from iterlin_lab.runs.workers import prepare_jax

scale = load(Path("params.yaml")).presets["smoke"].model_copy(update={"devices": 2})
prepare_jax(scale)
import jax
from iterlin_lab.runs.recipes import make_recipe
from iterlin_lab.runs.splits import read_data
from iterlin_lab.runs.training import run_many

run = {"solver": {"name": "gradient_descent"}, "learning_rate": 0.01, "period": 5, "num_steps": 30}
recipe = make_recipe(scale, 0, **run)
data = read_data(Path(DATA))
found = {}
for devices in (1, 2, 3):
    try:
        ((result,), _) = run_many([recipe._replace(devices=devices)], data, [lambda record: None])
        leaves = jax.tree.leaves(result.state.params)
        numbers = [float(abs(leaf).sum()) for leaf in leaves]
        found[devices] = {"on": len(leaves[0].sharding.device_set), "numbers": numbers}
    except SystemExit as error:
        found[devices] = str(error)
print(json.dumps(found))
"""


def test_devices_share_a_run_and_end_as_one_does(tmp_path):
    smoke = load(ROOT / "params.yaml").presets["smoke"]
    number = sum(smoke.data.sizes.values())
    random, labels = np.random.default_rng(0), np.arange(number) % 10
    path = tmp_path / "data.npz"
    official = np.zeros(number, bool)
    np.savez(path, images=random.normal(size=(number, 8, 8, 1)), labels=labels, official_test=official)
    said = run_in(ROOT, "python", "-c", TRAIN.replace("DATA", repr(str(path)))).stdout
    found = json.loads(said.splitlines()[-1])
    assert (found["1"]["on"], found["2"]["on"]) == (1, 2)
    np.testing.assert_allclose(found["2"]["numbers"], found["1"]["numbers"], rtol=1e-9)
    assert found["3"] == "params.yaml: scale.devices: a run is to have 3, and there are 2 here"
