"""The examples of runs, spread over devices."""

import pytest

from iterlin_lab.config import load
from iterlin_lab.planning.shares import check_shares
from tests.clone import ROOT


@pytest.fixture(scope="module")
def smoke():
    return load(ROOT / "params.yaml").presets["smoke"]


def test_every_run_gives_its_devices_equal_shares(smoke):
    check_shares(smoke)
    check_shares(smoke.model_copy(update={"devices": 2}))


def test_what_cannot_be_shared_equally_is_one_line_that_names_the_experiment(smoke):
    with pytest.raises(SystemExit) as error:
        check_shares(smoke.model_copy(update={"devices": 8}))
    assert str(error.value) == (
        "params.yaml: scale.devices: 8 devices cannot have equal shares of the 60 examples of the training set of "
        "k_sweep: take 4 fewer, or 4 more"
    )
