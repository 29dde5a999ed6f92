"""E-STABLE: its recipes, its tables, its claims, and how it is shown."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.stability import claims
from iterlin_lab.experiments.stability import figure as figures
from iterlin_lab.experiments.stability import run as stability
from iterlin_lab.experiments.stability import section as report
from iterlin_lab.experiments.stability import table as tables
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("stability")
RATES, PERIODS, EIGENVALUE, STEPS = (0.01, 0.1, 1.0), ("1", "10", "100", "inf"), 10.0, 1000


@pytest.mark.parametrize("preset", PRESETS)
def test_the_pairs_differ_in_the_learning_rate_and_the_period_alone(preset):
    scale = PRESETS[preset]
    *grid, sgd = (stability.recipe(scale, cell, 1) for cell in stability.cells(scale))
    first, *others = grid
    for other in others:
        alike = {name: getattr(other, name) for name in ("learning_rate", "period", "net")}
        assert first._replace(**alike) == other
        assert first.net == other.net | {"initialisation": first.net["initialisation"]}
    assert sgd.training["batch_size"] == scale.stability.batch_size
    assert sgd._replace(training=first.training) == first
    assert {one.net["initialisation"] for one in grid} == {"he_normal", "pytorch"}
    assert (first.run, first.solver, first.training["batch_size"]) == (1, {"name": "gradient_descent"}, None)
    assert first.training["num_steps"] == scale.stability.num_steps


def results(diverges, number=8, steps=None, other=None):
    """What the stage writes: of every run, whether it `diverges(rate, period, run)`, at a step of its own.

    From another initialisation, with a λ_max a hundred times smaller, whether it diverges by `other`; and SGD.
    """
    grids = [mapped(diverges, number, steps).assign(initialisation="he_normal", method="gd")]
    grids += [mapped(other or diverges, number, steps).assign(initialisation="pytorch", method="gd")]
    grids[1]["max_eigenvalue"] /= 100
    sgd = grids[0].query("learning_rate == 0.01 and period == '1'")
    return pd.concat([*grids, sgd.assign(method="sgd", outcome="step_limit")], ignore_index=True)


def curves(runs, gap=0.01):
    """What the stage writes beside: learning curves, SGD's a `gap` above those of gradient descent."""
    keys = runs[["initialisation", "method", "learning_rate", "period", "run"]]
    above = gap * (keys["method"] == "sgd") * (1 + (keys["run"] - 3.5) / 100)
    steps = [keys.assign(step=step, network_test_accuracy=step / 20 + above * (step > 0)) for step in (0, 1, 10)]
    return pd.concat(steps)


def mapped(diverges, number, steps):
    rows = []
    for rate in RATES:
        for period in PERIODS:
            for run in range(number):
                ended = diverges(rate, parse_period(period), run)
                row = {"learning_rate": rate, "period": period, "max_eigenvalue": EIGENVALUE * (1 + run / 100)}
                row |= {"run": run, "outcome": "diverged" if ended else "step_limit"}
                row |= {"steps": (steps or 1) if ended else STEPS, "network_final": np.nan if ended else 0.8}
                rows.append(row)
    return pd.DataFrame(rows)


def located(*args, **kwargs):
    """The runs of the own initialisation as they are read back from their table."""
    runs = judged(*args, **kwargs)
    return runs[runs["own"] & (runs["method"] == "gd")]


def judged(*args, gap=0.01, **kwargs):
    """All runs, with what claims read of them."""
    runs = results(*args, **kwargs)
    gaps = tables.sgd_gaps(curves(runs, gap).rename(columns={"period": "K"}).astype({"K": float}))
    runs = tables.located(runs.astype({"period": float})).merge(gaps, on=["method", "run"], how="left")
    runs["own"] = (runs["initialisation"] == "he_normal") & (runs["method"] == "gd")
    return pd.read_csv(io.StringIO(runs.to_csv(index=False, float_format="%.6g")))


def sharp(rate, period, run):
    """Above ηλ_max = 2, where K is above one; ηK does not matter."""
    return rate * EIGENVALUE > 2 and period > 1


def test_a_pair_has_its_products_and_the_exact_interval_of_its_share():
    table = tables.summarise_pairs(located(lambda rate, period, run: sharp(rate, period, run) and run < 3))
    assert table[["learning_rate", "K"]].to_numpy()[:4].tolist() == [[0.01, float(period)] for period in PERIODS]
    assert (table["initialisation"].unique(), table["method"].unique()) == ("he_normal", "gd")
    (row,) = table[(table["learning_rate"] == 1) & (table["K"] == 10)].to_dict("records")
    assert (row["runs"], row["diverged"], row["step_limit"], row["fitted"], row["share"]) == (8, 3, 5, 0, 3 / 8)
    assert row["eta_lambda_max"] == pytest.approx(10.35)
    # Of Clopper and Pearson: the tails beyond the observed count have 2.5 % at either end.
    assert stats.binom.sf(2, 8, row["share_low"]) == pytest.approx(0.025)
    assert stats.binom.cdf(3, 8, row["share_high"]) == pytest.approx(0.025)
    assert table["eta_k"].tolist()[:4] == pytest.approx([0.01, 0.1, 1, np.inf])


def test_runs_are_divided_by_the_bound_and_counted_where_a_feature_update_ended_them():
    # Eleven steps are one of the second phase where K is 10, and within the first where it is more.
    table = tables.divided(located(sharp, steps=11))
    assert table[["K_up_to", "above", "runs", "diverged", "at_update"]].to_numpy().tolist() == [
        [1, False, 16, 0, 0],
        [1, True, 8, 0, 0],
        [10, False, 16, 0, 0],
        [10, True, 8, 8, 8],
        [np.inf, False, 32, 0, 0],
        [np.inf, True, 16, 16, 0],
    ]
    assert tables.divided(located(sharp, steps=1))["at_update"].sum() == 0  # before any update


def test_the_auc_is_the_rank_statistic_and_its_interval_keeps_draws_together():
    draw = np.random.default_rng(1)
    runs = located(lambda rate, period, run: draw.uniform() < 0.3 + rate / 3)
    found, bad = tables.predictors(runs).set_index("predictor"), runs["outcome"] == "diverged"
    expected = {
        column: stats.mannwhitneyu(runs.loc[bad, column], runs.loc[~bad, column]).statistic / (bad.sum() * (~bad).sum())
        for column in tables.PREDICTORS
    }
    assert found["auc"].to_dict() == pytest.approx(expected)
    low, auc, high = found[parts := ["auc_low", "auc", "auc_high"]].to_numpy().T
    assert np.all((low < auc) & (auc < high))
    low, auc, high = tables.predictors(located(sharp))[parts].to_numpy().T
    assert low == pytest.approx(auc)
    assert high == pytest.approx(auc)
    assert np.isnan(tables.predictors(located(lambda *_: False))[parts].to_numpy()).all()


def product(rate, period, run):
    """By ηK alone."""
    return rate * period > 0.5


def verdicts(runs):
    return tuple(row["verdict"] for row in judge(claims.CLAIMS, runs))


@pytest.mark.parametrize(
    ("diverges", "expected"),
    [
        (sharp, (YES, YES, YES)),
        (product, (NO, NO, NO)),
        (lambda rate, period, run: (sharp if run % 2 else product)(rate, period, run), (UNKNOWN,) * 3),
        (lambda *_: False, (NO, NONE, NONE)),
        (lambda *_: True, (NO, NONE, NONE)),
    ],
)
def test_the_claims_on_the_map(diverges, expected):
    assert verdicts(judged(diverges))[:3] == expected


def above_the_smallest(rate, period, run):
    """Where E-STABLE-4 holds."""
    return rate > 0.05 and period > 1


@pytest.mark.parametrize(
    ("diverges", "expected"),
    [
        (above_the_smallest, YES),
        (sharp, NO),
        (lambda *_: True, NO),
        (lambda rate, period, run: above_the_smallest(rate, period, run) and run % 2, UNKNOWN),
    ],
)
def test_the_claim_on_a_tenth(diverges, expected):
    assert verdicts(judged(diverges))[3] == expected


@pytest.mark.parametrize(("gap", "expected"), [(0.01, YES), (0.0498, UNKNOWN), (0.2, NO)])
def test_the_claim_on_sgd(gap, expected):
    assert verdicts(judged(sharp, gap=gap))[4] == expected


def test_the_claim_on_initialisations():
    never = lambda *_: False  # noqa: E731
    assert verdicts(judged(sharp, other=product))[5] == YES
    assert verdicts(judged(product, other=never))[5] == NO
    assert verdicts(judged(sharp, other=lambda rate, period, run: rate == 0.1 and run % 2))[5] == UNKNOWN
    assert verdicts(located(sharp))[5] == NONE
    turned = judged(sharp, other=product)
    assert verdicts(turned.assign(own=~turned["own"]))[5] == YES  # whichever of the two is the network's own


def test_the_claims_need_seven_draws_of_whole_maps():
    found = verdicts(judged(above_the_smallest, other=product, number=7))
    assert (found[0], found[3:]) == (YES, (YES,) * 3)
    few = verdicts(judged(above_the_smallest, number=6))
    assert (few[0], few[3]) == (UNKNOWN, UNKNOWN)
    assert verdicts(judged(above_the_smallest, number=4))[:4] == (NONE,) * 4
    runs = judged(sharp)
    gone = (runs["learning_rate"] == 1) & (runs["K"] == 100) & (runs["run"] < 4)
    assert verdicts(runs[~gone])[:4] == (NONE,) * 4
    assert verdicts(runs[runs["learning_rate"] < 1])[:3] == (NONE,) * 3


@pytest.mark.parametrize(("steps", "expected"), [(100, YES), (101, NONE)])
def test_equal_products_are_compared_after_equal_times(steps, expected):
    """With ηK = 10, η = 1 diverges at ηt = 100, which is where η = 0.1 ran out of steps, or later."""
    assert verdicts(judged(sharp, steps=steps))[:3] == (YES, expected, YES)


@pytest.mark.parametrize(
    ("diverges", "said"),
    [
        (
            sharp,
            (
                "ηλ_max < 2 at initialisation 0 of 64 (0%) diverged",
                "it was 0 of 8 (0%) with K = 1, 8 of 8 (100%) with 1 < K ≤ 10, 16 of 16 (100%) with K > 10.",
                "All divergences lie above the bound, and above it a run need not diverge.",
                "K = 1, bore ηλ_max of up to 10.7, and came to a test accuracy of 80 to 80 %",
                "Of the 24 runs with K > 1 that diverged, 8 did so at a feature update",
            ),
        ),
        (product, ("The bound does not explain those below it, and above it all runs diverge.",)),
        (lambda *_: False, ("With no divergence there is nothing to explain. Gradient descent",)),
    ],
)
def test_from_results_to_the_figure_and_the_section(tmp_path, monkeypatch, diverges, said):
    monkeypatch.chdir(tmp_path)
    scale, layout = PRESETS["smoke"], Layout("smoke")
    (layout.results / "stability").mkdir(parents=True)
    runs = results(diverges, steps=10)
    runs.to_csv(layout.results / "stability" / "runs.csv", index=False)
    curves(runs).to_csv(layout.results / "stability" / "curves.csv", index=False)
    smallest = scale.stability.model_copy(update={"learning_rates": RATES})
    scale = scale.model_copy(update={"stability": smallest})
    made = tables.tables(scale, layout)
    for name, draw in figures.FIGURES.items():
        figure = draw(made)
        figure.canvas.draw()
        if name == "stability":
            counts = [text.get_text() for text in figure.axes[0].texts]
            own = made["stability"].query("own").to_dict("records")
            assert counts == [f"{row['diverged']} of 8" for row in own]
        plt.close(figure)
    text = report.section(scale, made)
    assert all(part in text for part in said)
    assert f"at K = 100 there are {scale.stability.num_steps / 100:g} phases" in " ".join(text.split())
