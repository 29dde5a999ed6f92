"""L-RELU: the descent, lazy training, its tables, its claims, and how it is shown."""

import math

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from iterlin import squared_error
from iterlin._solvers.first_order import FirstOrder
from iterlin.two_layer.networks import two_layer
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.one_neuron import claims
from iterlin_lab.experiments.one_neuron import figure as figures
from iterlin_lab.experiments.one_neuron import section as report
from iterlin_lab.experiments.one_neuron import table as tables
from iterlin_lab.experiments.one_neuron.run import Neuron, draw, padded, regress
from iterlin_lab.experiments.one_neuron.settings import OneNeuron
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import exponents
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
SMOKE = scopes("one_neuron")["smoke"]
SECTION = SMOKE.one_neuron


def test_a_step_on_padded_examples_is_one_on_the_examples_alone():
    """Zeros with the label zero enter the mean loss, and nothing else."""
    data, _ = draw(0, SECTION, 4, 1)
    run = padded(0, SECTION, 4, 6, 16, 1)
    assert 0 < jnp.linalg.norm(run.model.weight) < 0.03
    assert isinstance(run.solver, FirstOrder)

    def loss(model, x, y):
        return jnp.mean(squared_error(jax.vmap(model)(x), y))

    model = Neuron(jnp.array([0.3, -0.2, 0.1, 1.0]))
    alone = jax.grad(loss)(model, data.x[:6], data.y[:6, None]).weight
    filled = jax.grad(loss)(model, *run.splits["train"]).weight
    assert len(run.splits["train"][0]) == 16
    np.testing.assert_allclose(
        run.solver.hyperparams["learning_rate"] * filled, SECTION.descent.learning_rate * alone, rtol=1e-12
    )


def test_lazy_training_ends_at_the_least_change_that_fits():
    """θ − θ₀ = J⁺ y, with the Jacobian of the network itself."""
    section = SECTION.model_copy(update={"ratios": [2.0], "width": 40, "ridge": 1e-10, "num_test": 20})
    (row,) = [row for row in regress((0, section, 4, 0)) if row["learner"] == "lazy"]
    data, key = draw(0, section, 4, 0)
    net = two_layer(40, 4, 1 / math.sqrt(40), jax.nn.relu, key)
    by_leaf = jax.jacrev(lambda net, x: net(x)[:, 0])(net, jnp.concatenate([data.x[:8], data.x_test]))
    jacobian = np.concatenate([np.reshape(leaf, (28, -1)) for leaf in jax.tree.leaves(by_leaf)], axis=1)
    outputs = jacobian[8:] @ np.linalg.lstsq(jacobian[:8], np.asarray(data.y[:8]))[0]
    assert row["test_error"] == pytest.approx(2 * np.mean((outputs - np.asarray(data.y_test)) ** 2), rel=1e-6)


def test_the_energies_of_relu_are_its_integrals():
    x = np.linspace(0, 12, 200_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    coefficients = [np.trapezoid(x * h * density, x) for h in (1, x, (x**2 - 1) / np.sqrt(2))]
    energy = np.trapezoid(x**2 * density, x)
    assert tables.plateaus() == pytest.approx(1 - np.cumsum(np.square(coefficients)) / energy)
    assert tables.plateaus() == pytest.approx([0.682, 0.182, 0.0225], abs=5e-4)


def test_where_an_error_is_reached_for_good():
    n = np.array([10.0, 20.0, 40.0, 80.0])
    assert tables.crossing(n, 1 / n, 1 / 30) == pytest.approx(30)  # between two n by their power law
    assert tables.crossing(n, np.array([1, 0.01, 0.4, 0.1]), 0.2) == pytest.approx(40 * math.sqrt(2))
    assert math.isnan(tables.crossing(n, 1 / n, 1e-3))
    assert math.isnan(tables.crossing(n, 1 / n, 1))


def test_exponents_of_power_laws():
    rows = [{"learner": "RF", "dimension": d, "run": 0, "size": 3 * d**1.7} for d in (8, 16, 64)]
    rows += [{"learner": "NT", "dimension": d, "run": 0, "size": np.nan if d == 64 else d} for d in (8, 16, 64)]
    found = exponents(pd.DataFrame(rows), ["learner", "run"], "dimension", "size")
    assert found["RF", 0] == pytest.approx(1.7)
    assert math.isnan(found["NT", 0])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (lambda t: 10 ** (-t / 40), 1),  # linear in time
        (lambda t: 10 ** -np.where(t < 200, t / 20, 10 + (t - 200) / 80), 100 / 220),
        (lambda t: 1 / (1 + t) ** 3, 0),  # never so far
    ],
)
def test_how_steady_the_rate_of_a_descent_is(error, expected):
    steps = np.unique(np.round(np.geomspace(1, 1000, 60)))
    curve = pd.DataFrame({"dimension": 8, "run": 0, "step": steps, "test_error": error(steps)})
    assert tables.steadiness(curve)["steadiness"].tolist() == pytest.approx([expected], abs=0.02)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ratios": [0.1, 1.0]}, "must leave one example where d = 4"),
        ({"width": 63}, "multiple of 2"),
        ({"dimensions": [4, 4]}, "two entries are the same number"),
    ],
)
def test_impossible_settings(changed, message):
    with pytest.raises(ValidationError, match=message):
        OneNeuron(**SECTION.model_dump() | changed)


def runs(neuron, kernel, steadiness, number=6):
    """A row a learner and run with these exponents and rates, up to noise."""
    rng, rows = np.random.default_rng(0), []
    for learner in ("one neuron", "RF", "NT", "lazy"):
        for run in range(number):
            exponent = (neuron if learner == "one neuron" else kernel) + rng.normal(0, 0.05)
            steady = steadiness + rng.normal(0, 0.02) if learner == "one neuron" else np.nan
            rows.append({"learner": learner, "run": run, "exponent": exponent, "steadiness": steady})
    return pd.DataFrame(rows)


def verdicts(table):
    return tuple(row["verdict"] for row in judge(claims.CLAIMS, table))


def test_the_claims():
    assert verdicts(runs(1, 1.8, 0.9)) == (YES,) * 4
    assert verdicts(runs(1.6, 1, 0.3)) == (NO,) * 4
    assert verdicts(runs(1.25, 1.25, 0.75)) == (UNKNOWN,) * 4
    assert verdicts(runs(1, 1.8, 0.9, number=4)) == (NONE,) * 4
    table = runs(1, 1.8, 0.9)
    table.loc[(table["learner"] == "lazy") & (table["run"] == 0), "exponent"] = np.nan  # it needs more than was tried
    assert verdicts(table) == (YES, YES, NONE, YES)


def test_from_results_to_figures_and_the_section(tmp_path, monkeypatch):
    """Kernels need d² examples, and the neuron 2d; each error is halved by twice as many examples."""
    monkeypatch.chdir(tmp_path)
    folder = Layout("smoke").results / "one_neuron"
    folder.mkdir(parents=True)
    errors, descents = [], []
    for d in (4, 8):
        for run in range(3):
            for ratio in (1, 4, 16):
                cell = {"dimension": d, "ratio": ratio, "n": ratio * d, "run": run}
                law = SECTION.error * d**2 / cell["n"] * (1 + run / 100)
                errors += [{"learner": learner, **cell, "test_error": law} for learner in ("RF", "NT", "lazy")]
                for step in (0, 10, 100):
                    error = 2 * SECTION.error / ratio * 10.0 ** (-step / 10 * (ratio - 1))
                    descents.append({**cell, "outcome": "fitted", "step": step, "test_error": error})
    pd.DataFrame(errors).to_csv(folder / "errors.csv", index=False)
    pd.DataFrame(descents).to_csv(folder / "descent.csv", index=False)
    made = tables.tables(SMOKE, Layout("smoke"))
    exponents = made["one_neuron_exponents"].set_index("learner")["exponent_mean"]
    assert exponents.to_dict() == pytest.approx({"RF": 2, "NT": 2, "lazy": 2, "one neuron": 1})
    for draw_figure in figures.FIGURES.values():
        figure = draw_figure(made)
        figure.canvas.draw()
        plt.close(figure)
    text = report.section(SMOKE, made)
    assert "0.682, 0.182, 0.023 of it" in text
    assert "2.00 ± 0.00" in text
