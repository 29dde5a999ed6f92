"""E-DAMP1D: the task, its runs, and what tables, claims and figures make of them."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import judge
from iterlin_lab.config import load
from iterlin_lab.data.quintic import points, quintic
from iterlin_lab.experiments.damp1d.claims import CLAIMS
from iterlin_lab.experiments.damp1d.run import Damping, cells, roughness, train_runs
from iterlin_lab.experiments.damp1d.table import quantile, summary
from tests.clone import ROOT

SECTION = load(ROOT / "params.yaml").presets["smoke"].damp1d


def test_the_quintic_is_that_of_the_paper():
    x, y = points(801)
    assert (y.min(), y.max()) == pytest.approx((-9, 7))  # at the ends of the domain
    roots = np.polynomial.Polynomial([-1, 2, 0, -1 / 2, 0, 1 / 32])
    np.testing.assert_allclose(quintic(x), roots(x), atol=1e-12)
    train, targets = points(20)
    np.testing.assert_allclose(np.diff(train[:, 0]), 8 / 19)
    assert np.sqrt(np.mean(targets**2)) == pytest.approx(2.98, abs=0.005)


def test_roughness_is_the_total_variation_of_the_slope():
    """That of |x| is 2, at any resolution; lines have none, and adding them changes nothing."""
    for num in (11, 1001):
        x = jnp.linspace(-1, 1, num)[:, None]
        assert roughness(x, 3 * jnp.abs(x) + 5 * x - 1) == pytest.approx(6)
        # A second difference of numbers up to 6 has the error 4·6ε, and the sum has num of them over 2/num.
        assert roughness(x, 5 * x - 1) == pytest.approx(0, abs=12 * np.finfo(float).eps * num**2)


@pytest.fixture(scope="module")
def trained():
    """Runs 0 to 3 with λ = 10⁻² as two programs of three, of which the second has one run to do."""
    tables = [train_runs(0, SECTION, Damping(1e-2, 1.0), runs) for runs in ([0, 1, 2], [3])]
    return [pd.concat(parts, ignore_index=True) for parts in zip(*tables, strict=True)]


def test_runs_and_functions(trained):
    runs, drawn = trained
    assert list(runs["run"]) == [0, 1, 2, 3]
    assert set(runs["cell"]) == {"λ = 0.01"}
    assert (runs["steps"] == SECTION.num_steps).all()
    assert runs["train_rmse"].nunique() == 4
    assert list(drawn.groupby("run").size()) == [SECTION.num_test] * SECTION.num_drawn
    _, target = points(SECTION.num_test)
    for run, function in drawn.groupby("run"):
        error = np.sqrt(np.mean((function["f"].to_numpy() - target[:, 0]) ** 2))
        assert error == pytest.approx(runs.set_index("run")["test_rmse"][run], rel=1e-9)


def test_a_run_does_not_depend_on_its_group(trained):
    runs, _ = trained
    again, _ = train_runs(0, SECTION, Damping(1e-2, 1.0), [3, 0])
    expected = runs.set_index("run").loc[[3, 0], ["train_rmse", "test_rmse"]]
    np.testing.assert_allclose(again[["train_rmse", "test_rmse"]], expected, rtol=1e-7)


def test_cells_are_in_order_and_share_their_seeds():
    assert [cell.cell for cell in cells(SECTION)] == ["λ = 0", "λ = 0.0001", "λ = 0.01", "λ = 1", "α = 0.3"]


def table(median, spread=0.1, runs=100):
    """Made-up runs whose errors have these medians over rising λ, and the same best."""
    rng, rows = np.random.default_rng(0), []
    for damping, middle in zip((1e-4, 1e-3, 1e-2, 1e-1), median, strict=True):
        values = 0.5 + (middle - 0.5) * rng.uniform(0, 2, runs) * (1 + spread * rng.normal(size=runs) ** 2)
        rows.append(
            pd.DataFrame({"depth": 5, "damping": damping, "step_size": 1.0, "run": range(runs)}).assign(
                test_rmse=values, train_rmse=0.1, roughness=10 * values, outcome="step_limit", failed=False
            )
        )
    return pd.concat(rows, ignore_index=True)


def both(runs):
    """The same runs with five and with four hidden layers."""
    return pd.concat([runs, runs.assign(depth=4)], ignore_index=True)


def verdicts(runs):
    return [row["verdict"] for row in judge(CLAIMS, runs)]


def test_claims_hold_where_the_errors_fall_and_not_where_they_rise():
    assert verdicts(both(table((9, 5, 3, 1), runs=10_000))) == ["supported"] * 5
    found = verdicts(both(table((1, 3, 5, 9))))
    assert (found[:2], found[4]) == (["contradicted"] * 2, "contradicted")


def test_each_depth_has_claims_of_its_own():
    falling, rising = table((9, 5, 3, 1)), table((1, 3, 5, 9))
    own, shallower = verdicts(falling), verdicts(pd.concat([falling, rising.assign(depth=4)]))
    assert own[4] == "not applicable at this scale"
    assert shallower == [*own[:4], "contradicted"]
    fails = falling.assign(depth=4, failed=True)
    assert verdicts(pd.concat([falling, fails]))[4] == "not applicable at this scale"


def test_a_rise_at_the_end_contradicts_a_fall_that_the_trend_shows():
    runs = table((9, 5, 1, 3))
    assert verdicts(runs)[0] == "contradicted"
    assert verdicts(runs)[1] == "supported"


def test_the_best_is_compared_as_a_ratio():
    """A third more is too much, whatever the size of the errors."""
    runs = table((9, 5, 3, 1), runs=10_000)
    small = runs.assign(test_rmse=runs["test_rmse"] / 100)
    more = small["test_rmse"] * np.where(small["damping"] == 1e-4, 1.33, 1)
    assert verdicts(small)[2] == "supported"
    assert verdicts(small.assign(test_rmse=more))[2] == "contradicted"


def test_failed_runs_count_as_the_worst():
    """With little damping all runs fail but the best: the mean of what is left would say the opposite."""
    runs = table((1, 1, 1, 1))
    least = runs["damping"] == 1e-4
    runs.loc[least & (runs["run"] > 20), "failed"] = True
    runs.loc[least, "test_rmse"] = 0.5
    assert verdicts(runs)[1] == "supported"
    row = summary(runs).iloc[0]
    assert (row["failed"], row["test_rmse_mean"], row["quantile_95"]) == (79, 0.5, np.inf)


def test_too_few_runs_decide_nothing():
    assert set(verdicts(table((9, 5, 3, 1), runs=4))) == {"not applicable at this scale"}


def test_a_quantile_of_censored_values():
    values = pd.Series([*range(1, 20), np.inf])
    assert (quantile(values, 0.95), quantile(values, 0.96)) == (19, np.inf)
