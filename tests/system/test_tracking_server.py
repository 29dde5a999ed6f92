"""MLflow as a view of DVC's outputs, with a real server that can fail."""

import re
import sys
import time

import pytest

from tests.clone import Clone
from tests.server import Line, free_port, mlflow_server
from tests.system.shown import COMPLETE, STAGES, client, found, levels, models, shown, sync


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Three trained cells."""
    clone = Clone(tmp_path_factory.mktemp("smoke"), "smoke")
    clone.repro(*STAGES)
    return clone


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with mlflow_server(tmp_path_factory.mktemp("server")) as port:
        yield port


def test_training_goes_on_where_no_server_answers(clone):
    settings = {"ITERLIN_LIVE_AFTER": "0", "MLFLOW_TRACKING_URI": f"http://127.0.0.1:{free_port()}"}
    before = clone.bytes_below("results/smoke/k_sweep/10")
    done = clone.run("dvc", "repro", "-f", "-s", "sweep@smoke-k_sweep-10", **settings)
    assert done.stderr.count("warning: sweep@smoke-k_sweep-10 is not shown in MLflow") == 1
    assert clone.bytes_below("results/smoke/k_sweep/10") == before


def test_a_server_shows_everything_too(clone, server):
    address = f"http://127.0.0.1:{server}"
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (3, "")
    at = client(address)
    assert levels(at) == COMPLETE
    cell = shown(at)["K = 10"]
    assert {item.path for item in at.list_artifacts(cell.info.run_id, "cell")} == {"cell/curves.csv", "cell/runs.csv"}
    assert "K = 10" in shown(at)
    assert sync(clone, MLFLOW_TRACKING_URI=address) == (0, "")
    assert sync(clone, "--again", MLFLOW_TRACKING_URI=address) == (0, "")


@pytest.fixture(scope="module")
def whole(clone, server):
    """How many answers the server gives while it is told everything, where the pages are there."""
    with Line(server) as line:
        at = f"http://127.0.0.1:{server}"
        sync(clone, MLFLOW_TRACKING_URI=at)
        clear(client(at))
        line.answers = sys.maxsize
        assert sync(clone, "--again", MLFLOW_TRACKING_URI=line.address) == (3, "")
        line.shutdown()
    return sys.maxsize - line.answers


@pytest.mark.parametrize(("share", "whole_cells"), [(0, 0), (0.35, 0), (0.6, 1), (0.97, 3)])
def test_a_server_that_stops_answering_is_one_warning_and_nothing_is_doubled_later(
    clone, server, whole, share, whole_cells
):
    with Line(server) as line:
        at = client(f"http://127.0.0.1:{server}")
        clear(at)
        line.answers = round(share * whole)
        start = time.monotonic()
        new, error = sync(clone, "--again", MLFLOW_TRACKING_URI=line.address, MLFLOW_HTTP_REQUEST_TIMEOUT="2")
        assert time.monotonic() - start < 60  # MLflow's own patience is many minutes
        assert new == whole_cells
        assert re.fullmatch(
            f"warning: MLflow at {line.address} does not show everything. Try `iterlin sync` later .*\n", error
        )
        line.answers = sys.maxsize
        assert sync(clone, MLFLOW_TRACKING_URI=line.address) == (3 - new, "")
        assert levels(at) == COMPLETE
        best = at.get_model_version_by_alias("iterlin-smoke", "best")
        assert best.source in {f"models:/{model.model_id}" for model in models(at)}
        line.shutdown()


def clear(at):
    """Delete all runs and models of cells."""
    for run in found(at):
        at.delete_run(run.info.run_id)
    for model in models(at):
        at.delete_logged_model(model.model_id)
