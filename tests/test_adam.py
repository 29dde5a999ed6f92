"""E-ADAM: its recipes, the ends of phases in tables, and from results to figures, with E-DAMPCE."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin import adam
from iterlin_lab.config import load
from iterlin_lab.experiments.adam.table import DRAWN, over_evaluations, tuned
from iterlin_lab.layout import Layout
from iterlin_lab.settings.solvers import solver_of
from iterlin_lab.tables import ACCURACIES, by_period, read_cells, summarise
from iterlin_lab.tables.phases import phase_ends, summarise_phases, with_phases
from tests.clone import ROOT
from tests.whole import FIGURES, recipes, tables_of, text_of

PRESETS = load(ROOT / "params.yaml").presets


@pytest.mark.parametrize("preset", PRESETS)
def test_the_cells_of_adam_differ_in_how_lazy_problems_are_solved(preset):
    scale = PRESETS[preset]
    cells = recipes("adam", scale)
    assert list(cells) == scale.adam.cells
    assert all([recipe.run for recipe in runs] == list(range(scale.adam.num_seeds)) for runs in cells.values())
    for name, solver, rates in (
        ("descent", "gradient_descent", scale.adam.descent.learning_rates),
        ("gradient", "adam", scale.adam.gradient.learning_rates),
    ):
        firsts = [cells[f"{name}-{rate:g}"][0] for rate in rates]
        assert [recipe.learning_rate for recipe in firsts] == rates
        assert all((recipe.solver, recipe.period) == ({"name": solver}, 1) for recipe in firsts)
        assert all(recipe._replace(learning_rate=0) == firsts[0]._replace(learning_rate=0) for recipe in firsts)
    solved, kept = cells["solved"][0], cells["kept"][0]
    assert (solved.period, solved.tolerance) == (int(scale.adam.solved.period), None)
    assert solved.solver == {"name": "adam", "at_feature_update": "reset"}
    assert kept == solved._replace(solver={"name": "adam", "at_feature_update": "keep"})
    assert solver_of(solved.solver).make(0.1) == adam(0.1)
    assert solver_of(kept.solver).make(0.1) == adam(0.1, at_feature_update="keep")
    for tolerance in scale.adam.truncated.tolerances:
        (newton, *_) = cells[f"truncated-{tolerance}"]
        assert (newton.solver["tolerance"], newton.tolerance, newton.period) == (float(tolerance),) * 2 + (None,)
        assert newton.learning_rate is newton.training["batch_size"] is None


# Two runs: one with phases of 4 steps, whose ends are recorded; and one with ends at 3, 7 and 9, of which 7 is not.
RECORDS = [(0, 0, 0, 0), (0, 2, 2, 0), (0, 4, 4, 0), (0, 5, 1, 1), (0, 8, 4, 1)]
RECORDS += [(1, 0, 0, 0), (1, 3, 3, 0), (1, 6, 3, 1), (1, 9, 2, 2)]


def recorded():
    curves = pd.DataFrame(RECORDS, columns=["run", "step", "phase_step", "feature_updates"]).assign(damping=0.0)
    curves["certificate"], curves["proxy_train_accuracy"] = 1 / (1 + curves["step"]), curves["step"] / 9
    runs = pd.DataFrame({"damping": 0.0, "run": [0, 1], "feature_updates": [1, 2], "last_phase_ended": True})
    return curves, runs


def test_the_ends_of_phases_are_where_a_later_record_counts_from_and_where_the_run_ended():
    curves, runs = recorded()
    ends = phase_ends(curves, runs, ["damping", "run"])
    assert sorted(zip(ends["run"], ends["step"], strict=True)) == [(0, 4), (0, 8), (1, 3), (1, 9)]
    cut_off = phase_ends(curves, runs.assign(last_phase_ended=False), ["damping", "run"])
    assert sorted(zip(cut_off["run"], cut_off["step"], strict=True)) == [(0, 4), (1, 3)]


def test_how_well_problems_were_solved_is_read_at_the_ends_of_phases():
    curves, runs = recorded()
    table = with_phases(runs, curves, ["damping"])
    assert table["phases"].tolist() == [2, 3]
    assert table["recorded"].tolist() == [2, 2]
    (row,) = summarise_phases(table, ["damping"]).to_dict("records")
    assert (row["median_phases"], row["recorded"]) == (2.5, 0.8)
    assert row["certificate_largest"] == 1 / 4
    assert row["proxy_train_accuracy_lowest"] == 3 / 9
    none = with_phases(runs.assign(last_phase_ended=False), curves.query("phase_step == step"), ["damping"])
    assert none["recorded"].tolist() == [0, 0]
    assert none["certificate_largest"].isna().all()


def test_curves_over_evaluations_meet_where_runs_have_taken_as_many():
    curves = pd.DataFrame({"run": [0, 0, 1, 1], "step": [0, 1, 0, 1], "evaluations": [0, 5, 0, 9]})
    curves[list(DRAWN)] = np.array([[0.0, 0.5, 0.0, 0.9]] * len(DRAWN)).T
    table = over_evaluations(curves.assign(method="TGN", K=np.nan, tolerance=0.1, learning_rate=np.nan))
    table = table.set_index("evaluations")
    assert table["network_test_accuracy_mean"].to_dict() == pytest.approx({0: 0, 5: 0.25, 9: 0.7})


def write_cell(folder, outcome):
    """Two runs with phases of 5 steps whose network gets all right, or which diverged."""
    fitted = outcome == "fitted"
    curves = [
        {"run": run, "step": step, "phase_step": min(step, 5), "feature_updates": int(step > 5), "evaluations": step}
        | {"certificate": 0.01 if fitted else np.nan}
        | dict.fromkeys([*DRAWN, "network_validation_accuracy"], 1.0 if fitted else 0.1)
        for run in range(2)
        for step in (0, 5, 10)
    ]
    ended = {"outcome": outcome, "steps": 10, "feature_updates": 1, "evaluations": 10, "last_phase_ended": fitted}
    ended |= {name: 1.0 if fitted else np.nan if name.endswith("final") else 0.1 for name in ACCURACIES}
    folder.mkdir(parents=True)
    pd.DataFrame(curves).to_csv(folder / "curves.csv")
    pd.DataFrame([{"run": run, **ended} for run in range(2)]).to_csv(folder / "runs.csv")


@pytest.mark.parametrize("outcome", ["fitted", "diverged"])
def test_from_results_to_figures_and_sections(tmp_path, monkeypatch, outcome):
    monkeypatch.chdir(tmp_path)
    scale, layout = PRESETS["smoke"], Layout("smoke")
    cells = [f"adam/{cell}" for cell in scale.adam.cells]
    cells += [f"damp_ce/{cell}" for cell in recipes("damp_ce", scale)]
    cells += [f"k_sweep/{period}" for period in scale.k_sweep.periods]
    for cell in cells:
        write_cell(layout.results / cell, outcome)
    tables = tables_of(scale, "adam", "damp_ce")
    gradient = read_cells(layout.results / "k_sweep", by_period(["1"]), "runs")
    tables["k_sweep"] = summarise(gradient, gradient, ["K"])
    for name in ("adam", "damp_ce"):
        figure = FIGURES[name](tables)
        figure.canvas.draw()
        plt.close(figure)
    text = " ".join(text_of(scale, tables, "adam", "damp_ce").split())
    if outcome == "fitted":
        assert "at the end of every phase of every run, and its gradient had shrunk to at most 0.01 of" in text
        assert text.count("**chosen**") == 2
        assert "gradient descent, K = 1, η = 0.005, **chosen**" in text  # of two alike the smaller η
        assert " 0% of the runs did not fit" in text
    else:
        assert "**chosen**" not in text
        assert "**not** all solved" in text
        assert " 100% of the runs did not fit" in text


@pytest.mark.parametrize(
    ("validation", "diverged", "expected"),
    [
        ({0.1: 0.6, 0.01: 0.8, 0.001: 0.7}, None, 0.01),
        ({0.1: 0.8, 0.01: 0.8, 0.001: 0.7}, None, 0.01),  # a tie
        ({0.1: 0.9, 0.01: 0.8, 0.001: 0.7}, 0.1, 0.01),
        ({0.1: 0.9}, 0.1, None),
    ],
)
def test_the_learning_rate_of_the_best_mean_validation_accuracy_is_chosen(validation, diverged, expected):
    """Each run at its best record, which is its first here; what the test data say does not matter."""
    row = {"method": "descent", "K": 1.0, "tolerance": np.nan}
    runs = pd.DataFrame(
        row | {"learning_rate": rate, "run": run, "network_final": 1 - mean, "outcome": "fitted"}
        for rate, mean in validation.items()
        for run in range(2)
    )
    runs.loc[(runs["learning_rate"] == diverged) & (runs["run"] == 1), "outcome"] = "diverged"
    curves = pd.DataFrame(
        row | {"learning_rate": rate, "run": run, "network_validation_accuracy": accuracy}
        for rate, mean in validation.items()
        for run in range(2)
        for accuracy in (mean + (0.1 if run else -0.1), 0.1)
    )
    others = pd.DataFrame([row | {"method": "TGN", "K": np.nan, "tolerance": 0.1, "run": 0, "outcome": "diverged"}])
    curves = pd.concat([curves, others.assign(network_validation_accuracy=0.1)])
    table = tuned(pd.concat([runs, others], ignore_index=True), curves)
    chosen = table[table["chosen"] & (table["method"] == "descent")]["learning_rate"]
    assert chosen.tolist() == ([expected] * 2 if expected else [])
    assert table[table["method"] == "TGN"]["chosen"].all()
    assert table.groupby("learning_rate")["validation"].mean().to_dict() == pytest.approx(validation)
