"""L-LAZY: the flows, their tables and claims, and how they are shown."""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin import Linearised
from iterlin.two_layer.networks import TwoLayer
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.config import ParamsError, load
from iterlin_lab.experiments.lazy_flow import claims
from iterlin_lab.experiments.lazy_flow import figure as figures
from iterlin_lab.experiments.lazy_flow import section as report
from iterlin_lab.experiments.lazy_flow import table as tables
from iterlin_lab.experiments.lazy_flow.run import RESOLUTION, Examples, follow_along, linear_flow
from iterlin_lab.layout import Layout
from iterlin_lab.runs.two_layer_flows import first_pairs, flow, network
from tests.clone import ROOT
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("lazy_flow")
SECTION = PRESETS["smoke"].lazy_flow
STEPS = np.array([1, 10, 100, RESOLUTION])


def start(width=8, dimension=3):
    """Antisymmetric pairs."""
    half = np.random.default_rng(0).normal(size=(width // 2, dimension)) / np.sqrt(dimension)
    signs = np.repeat([1.0, -1.0], width // 2)
    return TwoLayer(jnp.asarray(signs), jnp.asarray(np.concatenate([half, half])), 1.0, jax.nn.gelu)


def examples(n=4, m=6, dimension=3):
    inputs = np.random.default_rng(1).normal(size=(n + m, dimension))
    return Examples(inputs[:n], np.abs(inputs[:n, :1]), inputs)


def test_the_flow_of_the_linearisation_is_its_closed_form():
    """Two methods, in two spaces: integrated in the parameters, with γ = 1/2, and in the kernel's eigenbasis."""
    model, data, scale = start(), examples(), 0.5
    closed = linear_flow(model, data, SECTION.duration, STEPS)
    times = SECTION.duration * STEPS / RESOLUTION / (scale**2 * len(model.outputs))
    path = flow(Linearised(network, model), model, scale, (data.x, data.y), data.inputs, times, 1e-9)
    np.testing.assert_allclose(scale * path.outputs, closed.outputs, atol=1e-7)


def test_only_the_product_of_scale_and_width_matters():
    """A network with every neuron twice and half the γ has the same trajectory at equal γ²Nt, and the same distance."""
    model, data = start(), examples()
    twice = jax.tree.map(lambda leaf: np.concatenate([leaf, leaf]), model)
    found = [
        follow_along(SECTION, net, scale, data, linear_flow(net, data, SECTION.duration, STEPS), STEPS)
        for net, scale in ((model, 0.3), (twice, 0.15))
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-6)
    assert found[0]["test_distance"].max() > 1e-2


def test_the_narrower_network_has_the_first_pairs_of_the_wider():
    wide, narrow = start(8), first_pairs(start(8), 4)
    np.testing.assert_array_equal(narrow.outputs, [1, 1, -1, -1])
    np.testing.assert_array_equal(narrow.weights[:2], wide.weights[:2])
    np.testing.assert_array_equal(narrow.weights[2:], wide.weights[:2])
    assert np.abs(np.asarray(network(narrow, jnp.asarray(examples().x)))).max() < 1e-15


def results(power, noise=0.05, number=8, exponents=(0.5, 0.75, 1.0)):
    """Runs whose measures are N to the `power(p)`, with noise."""
    draw, rows = np.random.default_rng(0), []
    for exponent in exponents:
        for width in (64, 128, 256):
            value = width ** power(exponent) * np.exp(noise * draw.normal(size=(number, 2)))
            rows += [
                {"exponent": exponent, "width": width, "run": run, "test_distance": a, "kernel_movement": b}
                for run, (a, b) in enumerate(value)
            ]
    return pd.DataFrame(rows)


def test_exponents_are_those_of_the_powers():
    found = tables.fits(tables.fitted(results(lambda p: 2 * (p - 1), noise=0)))
    for name in ("distance_mean", "kernel_mean", "predicted"):
        np.testing.assert_allclose(found[name], [-1, -0.5, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        (lambda p: 2 * (p - 1), (YES, YES, YES)),
        (lambda p: 0.0, (NO, YES, NO)),
        (lambda p: -1.0, (YES, NO, YES)),
        (lambda p: -1.0 if p < 0.6 else 0.5, (NO, NO, NO)),
    ],
)
def test_the_claims(power, expected):
    slopes = tables.fitted(results(power))
    assert tuple(row["verdict"] for row in judge(claims.CLAIMS, slopes)) == expected


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [(results(lambda p: 2 * (p - 1), number=4), NONE), (results(lambda p: -0.09, noise=1), UNKNOWN)],
)
def test_few_or_noisy_runs_decide_nothing(runs, verdict):
    assert {row["verdict"] for row in judge(claims.CLAIMS, tables.fitted(runs))} == {verdict}


def test_the_scaling_at_which_the_theorem_ends_is_asked_for(tmp_path):
    params = (ROOT / "params.yaml").read_text().replace("exponents: [0.5, 0.75, 1.0]", "exponents: [0.5, 0.75]")
    (tmp_path / "params.yaml").write_text(params)
    with pytest.raises(
        ParamsError, match=r"lazy_flow: exponents must contain 1\.0, where Theorem 3 ends, and a smaller"
    ):
        load(tmp_path / "params.yaml")


def test_from_results_to_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Layout("smoke").results / "lazy_flow"
    folder.mkdir(parents=True)
    runs = results(lambda p: 2 * (p - 1))
    runs.to_csv(folder / "runs.csv", index=False)
    curves = runs.assign(time=1.0, network_loss=0.1, linear_loss=0.2)
    pd.concat([curves, curves.assign(time=2.0)]).to_csv(folder / "curves.csv", index=False)
    scale = PRESETS["smoke"].model_copy(update={"lazy_flow": SECTION.model_copy(update={"widths": [64, 128, 256]})})
    made = tables.tables(scale, Layout("smoke"))
    assert made["lazy_flow_curves"]["network_mean"].to_list() == pytest.approx([0.1] * 6)
    figure = figures.lazy_flow(made)
    figure.canvas.draw()
    plt.close(figure)
    assert "| N^−0.75 |" in report.section(scale, made)
