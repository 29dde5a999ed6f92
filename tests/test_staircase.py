"""L-KRR: harmonics, regression on growing sets, its tables, its claims, and how it is shown."""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy.special import erf
from sklearn.kernel_ridge import KernelRidge

from iterlin.two_layer.growing import growing_ridge
from iterlin.two_layer.regression import kernel_ridge
from iterlin.two_layer.sphere import harmonic, target, uniform
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.config import load
from iterlin_lab.experiments.staircase import claims
from iterlin_lab.experiments.staircase import figure as figures
from iterlin_lab.experiments.staircase import section as report
from iterlin_lab.experiments.staircase import table as tables
from iterlin_lab.experiments.staircase.run import curves, draw
from iterlin_lab.experiments.staircase.settings import Staircase
from iterlin_lab.layout import Layout
from tests.clone import ROOT
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
SMOKE = scopes("staircase")["smoke"]
SECTION = SMOKE.staircase


def test_harmonics_are_homogeneous_and_harmonic():
    """As polynomials without squares: their second differences vanish along every axis, at any distance."""
    x, degree = uniform(jax.random.key(0), 5, 6), 3
    np.testing.assert_allclose(harmonic(2 * x, degree), 2**degree * harmonic(x, degree), rtol=1e-12)
    for axis in range(6):
        around = [harmonic(x.at[:, axis].add(step), degree) for step in (-1.0, 1.0)]
        np.testing.assert_allclose(around[0] + around[1], 2 * harmonic(x, degree), atol=1e-12)


def test_the_energies_of_the_target_are_those_given():
    x = uniform(jax.random.key(1), 200_000, 5)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), np.sqrt(5))
    parts = np.stack([harmonic(x, degree) for degree in (1, 2, 3)])
    np.testing.assert_allclose(parts @ parts.T / len(x), np.eye(3), atol=0.02)
    expected = np.sqrt([0.5, 0.3, 0.2]) @ parts
    np.testing.assert_allclose(target(x, [0.5, 0.3, 0.2]), expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="below the dimension, 3, got 3"):
        harmonic(jnp.ones((1, 3)), 3)


def test_growing_sets_have_the_predictions_of_each_by_itself():
    rng = np.random.default_rng(0)
    x, x_test, y = rng.normal(size=(12, 3)), rng.normal(size=(5, 3)), rng.normal(size=12)
    kernel, test = np.exp(x @ x.T), np.exp(x_test @ x.T)
    grown = growing_ridge(jnp.asarray(kernel), jnp.asarray(test), jnp.asarray(y), 1.0)
    for n in (1, 5, 12):
        other = KernelRidge(alpha=1, kernel="precomputed").fit(kernel[:n, :n], y[:n])
        np.testing.assert_allclose(grown[n - 1], other.predict(test[:, :n]), rtol=1e-8)
    own = kernel_ridge(jnp.asarray(kernel), jnp.asarray(y), 1.0)
    np.testing.assert_allclose(grown[-1], test @ own, rtol=1e-8)


def test_no_hermite_coefficient_of_the_activation_vanishes_and_one_of_relu_does():
    z, weights = np.polynomial.hermite_e.hermegauss(120)

    def coefficients(values):
        return [weights @ (values * np.polynomial.hermite_e.hermeval(z, np.eye(7)[k])) / 2.5066 for k in range(7)]

    for preset in load(ROOT / "params.yaml").presets.values():
        assert np.min(np.abs(coefficients(erf(z + preset.staircase.shift)))) > 1e-3
    assert abs(coefficients(np.maximum(z, 0))[3]) < 1e-9


def test_a_run_learns_degree_by_degree():
    section = SECTION.model_copy(update={"max_train": 300})
    rows = pd.DataFrame(curves((0, section, 5, 0)))
    assert set(rows["n"]) == {2, 5, 11, 25, 56, 125, 280}
    last = rows[rows["n"] == 280].set_index("kernel")["test_error"]
    assert (last < 0.1).all()  # there are 55 harmonics up to degree 3


def test_runs_and_seeds_have_their_own_inputs():
    parts = [part for seed, run in ((0, 0), (0, 1), (1, 0)) for part in draw(seed, SECTION, 5, run)]
    assert len({tuple(np.asarray(x[0])) for x in parts}) == 6


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"energies": [0.5, 0.3]}, "energies must sum to 1"),
        ({"max_train": 9}, "max_train must not be below the largest of dimensions, which is 10"),
        ({"dimensions": [5, 5]}, "two entries are the same number"),
        ({"per_degree": 3}, "multiple of 2"),
    ],
)
def test_impossible_settings(changed, message):
    with pytest.raises(ValidationError, match=message):
        Staircase(**SECTION.model_dump() | changed)


DIMENSIONS, EXPONENTS = (10, 20, 40), (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5)


def results(error, number=8):
    """What the stage writes, where the test error is `error(d, exponent)` up to a little noise."""
    rng, rows = np.random.default_rng(0), []
    for kernel in ("RF", "NT"):
        for d in DIMENSIONS:
            for exponent in EXPONENTS:
                for run in range(number):
                    row = {"kernel": kernel, "dimension": d, "exponent": exponent, "n": round(d**exponent), "run": run}
                    rows.append(row | {"test_error": error(d, exponent) + rng.normal(0, 1e-3)})
    return pd.DataFrame(rows)


def steps(d, exponent):
    """The staircase, rounded by less at larger d."""
    return sum(energy / (1 + (d ** (exponent - k)) ** 2) for k, energy in enumerate((0.5, 0.3, 0.2), start=1)) + 0.5 / d


def slope(d, exponent):
    """Without a step, more so at larger d."""
    return 1.3 - 0.5 * exponent + (d / 40) ** 2 * (0.05 + 0.2 * (exponent - 1))


def verdicts(runs):
    return tuple(row["verdict"] for row in judge(claims.CLAIMS, tables.with_gaps(SECTION, runs)))


def test_the_claims():
    assert verdicts(results(steps)) == (YES,) * 4
    assert verdicts(results(slope)) == (NO,) * 4
    assert verdicts(results(steps, number=4)) == (NONE,) * 4
    runs = results(steps)
    assert verdicts(runs[runs["exponent"] % 0.5 == 0])[3] == NONE
    assert verdicts(runs[runs["dimension"] < 40])[2:] == (NONE,) * 2


def test_from_results_to_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    layout = Layout("smoke")
    (layout.results / "staircase").mkdir(parents=True)
    results(lambda d, exponent: 0.6 if exponent == 1.5 else 0.25).to_csv(
        layout.results / "staircase" / "errors.csv", index=False
    )
    made = tables.tables(SMOKE, layout)
    assert made["staircase_plateaus"]["plateau"].tolist() == pytest.approx([1, 0.5, 0.2, 0])
    row = made["staircase"].query("kernel == 'NT' and dimension == 20 and exponent == 1.5").iloc[0]
    assert (row["n"], row["runs"]) == (89, 8)
    assert row["test_error_mean"] == pytest.approx(0.6, abs=1e-3)
    gaps = made["staircase_runs"].query("exponent == 1.5")["gap"]
    np.testing.assert_allclose(gaps, 0.1, atol=5e-3)
    figure = figures.staircase(made)
    figure.canvas.draw()
    plt.close(figure)
    text = report.section(SMOKE, made)
    assert "  89 |           0.50 | 0.600 ± 0.001 |" in text
    assert "figures/staircase.svg" in text
