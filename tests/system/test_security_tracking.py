"""Whatever a tracking server answers, it is one warning, and nothing is written to a place of its choice here."""

import json
import re
import sys
from contextlib import ExitStack

import jax
import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import save
from iterlin_lab.tables import ACCURACIES
from tests.clone import Clone
from tests.hostile import JUNK, answering, mlflow_like

SYNC = """
import os, sys
from iterlin_lab.config import load
from iterlin_lab.mlflow.sync import sync
for address in sys.argv[1:]:
    os.environ["MLFLOW_TRACKING_URI"] = address
    print(address, sync(load().scale, again=True))
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone with one cell, which was not trained here, beside a folder that a server would like to write to."""
    clone = Clone(tmp_path_factory.mktemp("tracking") / "clone", "smoke")
    cell = clone.folder / "results/smoke/k_sweep/10"
    (cell / "models").mkdir(parents=True)
    (clone.folder / "data").mkdir()
    shape = (8, 8, 1)
    images, labels = np.zeros((2, *shape), np.float32), np.zeros(2, int)
    np.savez(clone.folder / "data/smoke.npz", images=images, labels=labels, official_test=labels == 1)
    card = {"name": "digits", "sha256": "0" * 64, "examples": 2, "image_shape": shape, "class_counts": [2]}
    (clone.folder / "data/smoke.json").write_text(json.dumps(card | {"source": "", "licence": ""}))
    (clone.folder / "results/smoke/regime.json").write_text('{"learning_rate": 0.1}')
    with (clone.folder / "dvc.lock").open("w") as lock:
        YAML(typ="safe").dump({"stages": {"sweep@smoke-k_sweep-10": {"outs": [{"md5": "0"}]}}}, lock)
    row = {"run": 0, "outcome": "fitted", "steps": 3} | dict.fromkeys(ACCURACIES, 0.5)
    pd.DataFrame([row]).to_csv(cell / "runs.csv", index=False)
    recorded = {f"network_{split}_accuracy": [0.1, 0.5] for split in ("test", "validation")}
    pd.DataFrame({"run": [0, 0], "step": [0, 3]} | recorded).to_csv(cell / "curves.csv")
    net = {"name": "mlp", "width": 3, "depth": 1, "initialisation": "he_normal"}
    net |= {"input_shape": shape, "num_classes": 10}
    with jax.enable_x64(False):
        save(cell / "models/0.eqx", build(**net, key=jax.random.key(0)), {"net": net, "mean": 0.0, "deviation": 1.0})
    return clone


def around(clone):
    """All files beside the clone, and in it but for the notes of DVC and of ours."""
    folder = clone.folder.parent
    return {path for path in folder.rglob("*") if not {".git", ".cache", "__pycache__"} & set(path.parts)}


def synced(clone, *addresses):
    """How many cells were shown at each address, and the warnings."""
    done = clone.run(sys.executable, "-c", SYNC, *addresses)
    shown = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    return [shown[address] for address in addresses], done.stderr.splitlines()


def test_junk_is_one_warning_each_time(clone):
    before = around(clone)
    with ExitStack() as stack:
        servers = [stack.enter_context(answering(lambda path, answer=answer: answer)) for answer in JUNK.values()]
        shown, warnings = synced(clone, *(address for address, _ in servers))
        assert all(asked for _, asked in servers)
    assert set(shown) == {0}, (shown, warnings)
    assert len(warnings) == len(JUNK)
    for (address, _), line in zip(servers, warnings, strict=True):
        assert re.fullmatch(
            rf"warning: MLflow at {address} does not show everything\. Try `iterlin sync` later \(.*\)", line
        )
        assert line.isprintable()
        assert len(line) < 400
    assert around(clone) == before


PLACES = ["file://{0}/victim", "{0}/victim", "../victim", "dbfs:/victim", "ftp://127.0.0.1/victim", "runs:/r1/victim"]


def test_no_artifact_is_written_to_a_place_on_this_machine_that_a_server_names(clone):
    places = [place.format(clone.folder.parent) for place in PLACES]
    before, own = around(clone), "mlflow-artifacts:/1"
    with ExitStack() as stack:
        pairs = [(place, own) for place in places] + [(own, place) for place in places]
        servers = [stack.enter_context(answering(mlflow_like(*pair))) for pair in pairs]
        shown, warnings = synced(clone, *(address for address, _ in servers))
        asked = [paths for _, paths in servers]
    assert set(shown) == {0}, (shown, warnings)
    assert len(warnings) == len(pairs)
    for place, line, paths in zip(places * 2, warnings, asked, strict=True):
        assert f"the server would have files written to {place}, which is no place of its own" in line
        assert any(path.endswith("/runs/log-batch") for path in paths)
    assert around(clone) == before


def test_to_its_own_place_all_is_written(clone):
    with answering(mlflow_like("mlflow-artifacts:/1", "mlflow-artifacts:/1")) as (address, asked):
        assert synced(clone, address) == ([1], [])
    assert any(path.endswith("/mlflow-artifacts/artifacts/1/cell/runs.csv") for path in asked)
    assert any(path.endswith("/0.eqx") for path in asked)
