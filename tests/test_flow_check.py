"""B-FLOW: the explicit steps, extrapolated to η = 0, are what the flow tends to."""

import pandas as pd
import pytest

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.experiments.flow_check import run as flow_check
from iterlin_lab.experiments.flow_check.table import flow_errors
from tests.whole import scopes

SCALE = scopes("flow_check")["smoke"]


@pytest.fixture(scope="module")
def data():
    found = DATA_SETS["digits"].load()
    arrays = {name: getattr(found, name) for name in ("images", "labels", "official_test")}
    return arrays | {"labels": arrays["labels"].astype(int)}


@pytest.mark.parametrize(("model", "part"), [("proxy", 20), ("network", 1.5)])
def test_the_flow_is_nearer_to_the_extrapolated_steps_than_the_steps_themselves(data, model, part):
    settings = SCALE.flow_check.model_copy(update={"num_steps": 40, "tolerances": [1e-2, 1e-5]})
    loose, tight = flow_check._rows(SCALE.model_copy(update={"flow_check": settings}), data, model, 2e-3, run=0)
    assert loose["error_of_steps"] == tight["error_of_steps"]
    assert tight["error"] <= loose["error"] < tight["error_of_steps"]
    assert tight["error"] < tight["error_of_steps"] / part


def test_the_table_has_the_largest_errors_of_all_runs():
    rows = [
        {"model": "proxy", "learning_rate": 0.1, "steps": 10, "tolerance": 0.1, "run": run, "evaluations": 10 + run}
        | {"error": 0.1 * run, "error_of_steps": 0.2 * run, "error_estimate": 0.3 * run, "eta_lambda_max": 1.0}
        for run in range(3)
    ]
    (row,) = flow_errors(pd.DataFrame(rows)).to_dict("records")
    assert (row["evaluations"], row["error"], row["error_of_steps"]) == pytest.approx((11, 0.2, 0.4))
