"""E-DATA: its recipes, its power laws, its claims, and its figure and section."""

import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.data_scaling.claims import CLAIMS
from iterlin_lab.experiments.data_scaling.figure import FIGURES
from iterlin_lab.experiments.data_scaling.run import cells
from iterlin_lab.experiments.data_scaling.section import answer, section
from iterlin_lab.experiments.data_scaling.table import BY, compared, tables
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import means
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("data_scaling")


@pytest.mark.parametrize("preset", PRESETS)
def test_cells_differ_in_the_training_set_the_period_and_for_the_control_the_learning_rate(preset):
    scale = PRESETS[preset]
    experiment, recipes = scale.data_scaling, cells(scale)
    explicit = experiment.solver.name == "gradient_descent"
    for n in experiment.sizes:
        for run in range(experiment.num_seeds):
            one, control = (recipes[f"{n}-{period}"][run] for period in ("1", "control"))
            assert (one.run, one.period, one.sizes["train"]) == (run, 1, n)
            assert recipes[f"{experiment.sizes[0]}-1"][run]._replace(sizes=one.sizes) == one
            assert (control.solver, control.learning_rate) == (
                {"name": "gradient_descent"},
                experiment.control.learning_rate,
            )
            same = {"solver": one.solver, "learning_rate": one.learning_rate, "training": one.training}
            assert control._replace(**same) == one
            for period in experiment.periods:
                alike = control if period == "inf" and explicit else one
                assert recipes[f"{n}-{period}"][run] == alike._replace(period=float(period))


def results(folder, scale, outcome="fitted"):
    """Two runs of every cell, with the error 2·n^−0.5 of K = ∞ and else n^−0.75; half as much in the second run."""
    lazy, other = (lambda n: 2 * n**-0.5), (lambda n: n**-0.75)
    for n in scale.data_scaling.sizes:
        for period in (*scale.data_scaling.periods, "control"):
            network, proxy = (other(n), 0.9) if period != "inf" else (0.9, lazy(n))
            rows = [
                {"run": run, "outcome": outcome, "steps": 10 * n, "network_train_loss": 0.01}
                | {f"network_{stopped}_stopped": 1 - share * network for stopped in ("validation", "test")}
                | {f"proxy_{stopped}_stopped": 1 - share * proxy for stopped in ("validation", "test")}
                for run, share in enumerate((1, 0.5))
            ]
            path = folder / f"{n}-{period}" / "runs.csv"
            path.parent.mkdir(parents=True)
            pd.DataFrame(rows).to_csv(path, index=False)


def read_back(table):
    return pd.read_csv(io.StringIO(table.to_csv(index=False)))


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The tables of runs that all ended in the same way, as they are read back."""
    monkeypatch.chdir(tmp_path)

    def make(outcome):
        scale, layout = PRESETS["smoke"], Layout("smoke")
        results(layout.results / "data_scaling", scale, outcome)
        return {name: read_back(table) for name, table in tables(scale, layout).items()}

    return make


def test_tables_hold_the_accuracies_of_what_was_trained_and_the_exponents_of_their_errors(made):
    found = made("fitted")
    keys = [("gradient", 1), ("gradient", 100), ("gradient", np.inf), ("control", 1)]
    table = found["data_scaling"].set_index(["n", "method", "K"])
    assert list(table.index[:4]) == [(20, *key) for key in keys]
    lazy = table.loc[40, "gradient", np.inf]
    assert (lazy["runs"], lazy["fitted"], lazy["median_steps"]) == (2, 2, 400)
    error = 0.75 * 2 * 40**-0.5
    assert (lazy["error_mean"], lazy["accuracy_mean"]) == pytest.approx((error, 1 - error))
    assert lazy["difference_mean"] == pytest.approx(0.75 * 40**-0.75 - error)
    assert table.loc[(40, "control", 1), "difference_mean"] == 0
    slopes = found["data_scaling_slopes"].set_index(["method", "K"])
    assert slopes["slope_mean"].to_dict() == pytest.approx(dict(zip(keys, (-0.75, -0.75, -0.5, -0.75), strict=True)))
    ends = slopes.loc["gradient", np.inf][["slope_difference_low", "slope_difference_high"]]
    assert ends.tolist() == pytest.approx([0.25] * 2)


def test_a_run_without_an_error_has_no_exponent():
    table = pd.DataFrame({"n": [10, 20, 40] * 2, "method": "gradient", "K": 1.0, "run": [0, 0, 0, 1, 1, 1]})
    for name in (
        "network_validation_stopped",
        "network_test_stopped",
        "proxy_validation_stopped",
        "proxy_test_stopped",
    ):
        table[name] = [0.5, 0.75, 0.875, 0.5, 0.75, 1.0]
    slopes = compared(table).groupby("run")["slope"].first()
    assert slopes[0] == pytest.approx(-1)
    assert np.isnan(slopes[1])


@pytest.mark.parametrize("outcome", ["fitted", "diverged"])
def test_figure_and_section(made, outcome):
    found = made(outcome)
    figure = FIGURES["data_scaling"](found)
    figure.canvas.draw()
    _, names = figure.axes[0].get_legend_handles_labels()
    assert ("some runs diverged" in names) == (outcome == "diverged")
    assert "K = ∞ (lazy): −0.50 ± 0.00" in names
    plt.close(figure)
    text = section(PRESETS["smoke"], found)
    assert "| 1 (control) |" in text
    assert text.count("1.0e-02") == 9  # every n with K = 1, another K and the control
    assert "-0.500 ± 0.000" in text
    assert "K = ∞ has the η and the steps of the control" in text
    for preset in ("laptop", "paper"):
        assert "here all K have the same η" in section(PRESETS[preset], found)


CONTROL = "control"


def runs(slopes=(), shifts=(), noise=0.002, number=10):
    """Runs whose errors are 0.3·(n / 80)^slope, −0.5 for all but these K, and whose accuracies are shifted, in points.

    In that order, so that an accuracy can be shifted without a change of the others.
    """
    draw, rows = np.random.default_rng(1), []
    for run in range(number):
        level = draw.normal(0.3, 0.01)
        for K in (1, 1e6, 1e8, np.inf, CONTROL):
            own = {"method": "gradient", "K": K} if K != CONTROL else {"method": "control", "K": 1}
            for n in (40, 80, 160):
                error = level * (n / 80) ** dict(slopes).get(K, -0.5) - dict(shifts).get(K, 0) / 100
                accuracy = 1 - error + draw.normal(0, noise)
                rows.append({"n": n, **own, "run": run, "outcome": "fitted", "accuracy": accuracy})
    table = pd.DataFrame(rows)
    names = ("network_validation_stopped", "network_test_stopped", "proxy_validation_stopped", "proxy_test_stopped")
    return compared(table.assign(**dict.fromkeys(names, table["accuracy"])))


def verdicts(table):
    return {row["id"].removeprefix("E-DATA-"): row["verdict"] for row in judge(CLAIMS, table)}


REPRODUCED = {"slopes": {np.inf: -0.3}, "shifts": {np.inf: -10, 1e8: -3}}


def test_all_claims_can_hold_and_all_can_be_undecided():
    assert set(verdicts(runs(**REPRODUCED)).values()) == {YES}
    assert set(verdicts(runs(**REPRODUCED, noise=0.2)).values()) == {UNKNOWN}
    assert set(verdicts(runs(**REPRODUCED, number=4)).values()) == {NONE}


@pytest.mark.parametrize(
    ("claim", "fails"),
    [
        ("1", {"slopes": {1e6: -0.3}}),
        ("2", {"slopes": {np.inf: -0.3}}),  # which is better at the smallest n, and worse at the largest
        ("3", {"shifts": {np.inf: -10}, "slopes": {np.inf: -0.7}}),
        ("4", {"shifts": {1e8: 2}}),
        ("5", {"shifts": {CONTROL: 3}}),
        ("6", {"slopes": {1e8: -0.7}}),
    ],
)
def test_a_claim_is_contradicted_where_its_opposite_holds(claim, fails):
    assert verdicts(runs(**fails))[claim] == NO


def test_what_begins_at_the_largest_n_is_not_averaged_away():
    """Better at the smallest n and worse at the largest: a mean over n says nothing of it."""
    turning = verdicts(runs(slopes={1e8: -0.4}))
    assert (turning["4"], turning["6"]) == (YES, YES)
    assert verdicts(runs(slopes={1e8: -0.6}))["4"] == NO


@pytest.mark.parametrize(
    ("method", "K", "outcome", "unknown"),
    [
        ("gradient", 1, "step_limit", {"1", "2", "3", "4", "5", "6"}),
        ("gradient", 1e6, "step_limit", {"1"}),
        ("gradient", 1e8, "step_limit", {"4", "6"}),
        ("gradient", np.inf, "step_limit", set()),
        ("gradient", np.inf, "diverged", {"2", "3"}),
        ("control", 1, "diverged", {"5"}),
    ],
)
def test_no_verdict_rests_on_runs_that_were_cut_off(method, K, outcome, unknown):
    table = runs(**REPRODUCED)
    own = (table["method"] == method) & (table["K"] == K)
    table.loc[own & (table["run"] == 0) & (table["n"] == 80), "outcome"] = outcome
    assert {claim for claim, verdict in verdicts(table).items() if verdict == NONE} == unknown


def test_the_answer_says_how_the_error_falls_with_more_data():
    table = runs(**REPRODUCED)
    slopes = means(table[table["n"] == 40], BY, "slope", "slope_difference")
    claims = {row["id"]: row for row in judge(CLAIMS, table)}
    found = {"data_scaling_slopes": slopes, "data_scaling_runs": table.assign(network_train_loss=0.01)}
    finite, lazy, large = answer(PRESETS["smoke"], found, claims).sentences
    assert re.search(
        r"gains as much .* as with K = 1 \(test error ∝ n\^−0.50 with K = 10⁶ and n\^−0.50 with K = 1; ", finite
    )
    assert re.search(r"gains less .* \(test error ∝ n\^−0.\d\d with K = ∞ and n\^−0.50 with K = 1; ", lazy)
    assert re.search(r"With 80 training examples .* with K = 10⁸ is below .* \(difference −3.\d points, 95 %", large)
    alone, *_ = answer(PRESETS["smoke"], found | {"data_scaling_slopes": slopes[slopes["K"] == 1]}, claims).sentences
    assert alone.endswith("as with K = 1 ([E-DATA-1](#claims): **supported**).")
