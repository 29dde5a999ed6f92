"""B-FLOW, again: its recipes, its limits, its table and what the report says of it."""

import json

import numpy as np
import pandas as pd
import pytest

from iterlin_lab.config import load
from iterlin_lab.experiments.finer_flow import run, section, settings, table
from iterlin_lab.layout import Layout
from tests.clone import ROOT
from tests.whole import recipes, scopes

LAPTOP = scopes("finer_flow")["laptop"]


def changed(**values):
    return LAPTOP.model_copy(update={"finer_flow": LAPTOP.finer_flow.model_copy(update=values)})


@pytest.fixture
def layout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    layout = Layout("laptop")
    layout.results.mkdir(parents=True)
    layout.regime.write_text(json.dumps({"learning_rate": 1e-5}))
    return layout


def test_its_runs_are_those_of_the_sweep_but_for_the_tolerance(layout):
    finer, sweep = run.cells(LAPTOP), recipes("k_sweep", load(ROOT / "params.yaml").presets["laptop"])
    assert list(finer) == LAPTOP.finer_flow.periods
    for period, runs in finer.items():
        assert len(runs) == LAPTOP.finer_flow.num_seeds
        for ours, theirs in zip(runs, sweep[period], strict=False):
            assert ours._replace(solver=theirs.solver) == theirs
            assert ours.solver == {"name": "flow", "tolerance": LAPTOP.finer_flow.tolerance}
            assert ours.solver["tolerance"] < theirs.solver["tolerance"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tolerance": 0.1}, "finer_flow.tolerance must be below the tolerance of k_sweep.solver, 0.1"),
        ({"periods": ["1", "7"]}, "finer_flow.periods must be among k_sweep.periods: the same runs are compared"),
        ({"num_seeds": 21}, "finer_flow.num_seeds must not exceed k_sweep.num_seeds: the same runs are compared"),
    ],
)
def test_what_cannot_be_compared_is_refused(values, message):
    settings.check(LAPTOP)
    with pytest.raises(ValueError, match=message):
        settings.check(changed(**values))
    explicit = LAPTOP.model_copy(update={"k_sweep": load(ROOT / "params.yaml").presets["smoke"].k_sweep})
    with pytest.raises(ValueError, match=r"experiments\.finer must be empty: the k_sweep.solver is no flow"):
        settings.check(explicit)


def write(layout, name, cells, shift, evaluations):
    """Three runs of two K, their accuracies moved by so much."""
    for i, cell in enumerate(cells):
        level = 0.7 + 0.01 * np.arange(3) + shift * i
        rows = {"run": range(3), "evaluations": evaluations, "error_estimate": 0.2 / evaluations}
        (folder := layout.results / name / cell).mkdir(parents=True)
        accuracies = {"network_validation_stopped": level, "network_final": level - 0.1}
        pd.DataFrame(rows | accuracies).to_csv(folder / "runs.csv")


def test_the_report_says_what_the_error_changes(layout):
    """Also where the sweep spells a K in another way."""
    sweep = ["1", "100000000"]
    scale = LAPTOP.model_copy(update={"k_sweep": LAPTOP.k_sweep.model_copy(update={"periods": sweep})})
    settings.check(scale)
    write(layout, "k_sweep", sweep, 0.02, 100)
    write(layout, "finer_flow", scale.finer_flow.periods, 0.0, 150)
    tables = table.tables(scale, layout)
    changes = tables["finer_flow"].groupby("K")["network_validation_stopped_change"].agg(["mean", "max"])
    np.testing.assert_allclose(changes.loc[1], 0, atol=1e-15)  # equal decimals
    np.testing.assert_allclose(changes.loc[1e8], 0.02, rtol=1e-12)  # differences of decimals near 1
    text = section.section(scale, tables)
    assert "with the tolerance 0.03 in place of 0.1" in " ".join(text.split())
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| 1")]
    assert [row[:3] for row in rows] == [["1", "3", "100 → 150"], ["10⁸", "3", "100 → 150"]]
    assert [row[4:] for row in rows] == [["+0.00", "0.00"], ["+2.00", "2.00"]]
