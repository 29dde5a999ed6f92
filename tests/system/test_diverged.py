"""Runs that diverged in tables, report and figures; and a pipeline in which all of them do."""

import io
import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.experiments.k_sweep.figure import curves
from iterlin_lab.experiments.sensitivity.section import diverged
from iterlin_lab.experiments.sensitivity.table import diverged_runs
from iterlin_lab.figures.panels import CROSS
from iterlin_lab.report.names import period_text
from tests.clone import SWEEP, Clone

CAUSE = 'ηλ_max = 5.3 is above 2: explicit steps are unstable, so lower it; "below" 2'
RUNS = pd.DataFrame(
    {
        "method": "gradient",
        "factor": 1.0,
        "initialisation": "he_normal",
        "K": [1, 1e4, 1e4],
        "run": [0, 0, 1],
        "outcome": ["fitted", "diverged", "diverged"],
        "steps": [100, 40, 0],
        "last_finite_step": [None, 20, None],
        "eta_lambda_max_at_divergence": [None, 5.3, None],
        "cause": [None, CAUSE, "not all training inputs are finite"],
    }
)


def through_csv(table):
    return pd.read_csv(io.StringIO(table.to_csv(index=False)))


def test_only_runs_that_diverged_are_listed_and_their_texts_survive_the_file():
    table = through_csv(diverged_runs(pd.concat([RUNS, RUNS.head(2).assign(factor=50)])))
    assert table["K"].tolist() == [1e4] * 3
    assert table["factor"].tolist() == [1, 1, 50]
    assert table["cause"][0] == table["cause"][2] == CAUSE
    (text,) = diverged(table)
    assert text.startswith("## Runs that diverged\n")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| 10⁴")]
    assert rows == [
        ["10⁴", "1", "he_normal", "0", "40", "20", CAUSE],
        ["10⁴", "1", "he_normal", "1", "0", "none", "not all training inputs are finite"],
        ["10⁴", "50", "he_normal", "0", "40", "20", CAUSE],
    ]


def test_where_none_diverged_nothing_is_said():
    table = through_csv(diverged_runs(RUNS.head(1)))
    assert table.columns.tolist()[:5] == ["method", "factor", "initialisation", "K", "run"]
    assert diverged(table) == []


@pytest.mark.parametrize(("number", "expected"), [(1, []), (3, [[40.0, 0.5], [0.7, 0.1]])])
def test_a_curve_has_a_cross_where_it_loses_a_run(number, expected):
    points = pd.DataFrame({"K": [1, 1, 1e4, 1e4], "step": [0, 100, 0, 40], "x": [0.1, 0.9, 0.1, 0.5]})
    parts = {f"network_test_accuracy_{part}": points["x"] for part in ("mean", "low", "high")}
    figure = curves({"k_sweep_curves": points.assign(**parts), "k_sweep_runs": through_csv(RUNS.head(number))})
    crosses = [line for line in figure.axes[0].get_lines() if line.get_marker() == CROSS["marker"]]
    assert [xy for line in crosses for xy in np.asarray(line.get_xydata()).tolist()] == expected
    plt.close(figure)


def test_the_pipeline_goes_on_to_the_end_where_all_runs_diverge(tmp_path):
    clone = Clone(tmp_path, "smoke", *SWEEP, "adam", "damp_ce")
    clone.edit("{rule: stable, stability: 1.0, num_seeds: 3}", "{rule: fixed, learning_rate: 1.0e5}")
    clone.edit(
        "{name: adam, learning_rate: 5.0e-3, tolerance: 0.1}",
        "{name: adam, learning_rate: 1.0e6, tolerance: 0.1}",
    )
    clone.edit('variants: ["0.5", pytorch]', 'variants: ["2"]')
    done = clone.run("iterlin", "repro")
    assert "17 stages ran, 7 of them trained a cell" in done.stdout
    report = clone.folder / "reports/smoke"
    table = pd.read_csv(report / "tables/diverged.csv")
    names = table["K"].map(period_text)
    counts = table.groupby(["factor", names]).size()
    assert counts.to_dict() == {(1, "1"): 2, (1, "10"): 2, (1, "∞"): 2, (1, "TGN"): 2, (2, "1"): 2, (2, "10"): 2}
    by_cell = table.groupby(names)["cause"]
    assert by_cell.apply(lambda causes: causes.str.contains("is above 2").all()).to_dict() == {
        "1": True,
        "10": True,
        "∞": True,
        "TGN": False,
    }
    claims = json.loads((report / "evidence.json").read_text())
    sweep = [claim for name, claim in claims.items() if name.startswith("E-SWEEP")]
    assert {claim["verdict"] for claim in sweep} == {"not applicable at this scale"}
    assert all("diverged: 2 of 2 at K = 1, " in claim["evidence"] for claim in sweep)
    assert "(diverged: 2 of 2 at K = 1)" in claims["E-ADAM-1"]["evidence"]
    text = (report / "REPORT.md").read_text()
    assert text.count("explicit steps on this lazy problem are unstable; lower the learning rate below 0.0") == 10
    assert (report / "index.html").read_text().count("<svg") == 8
    assert len(json.loads((clone.folder / "tracking/smoke.json").read_text())) == 7
    assert json.loads(clone.run("dvc", "metrics", "show", "--json").stdout)
