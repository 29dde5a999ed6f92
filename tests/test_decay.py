"""L-DECAY: the bound, the tables and claims, and how they are shown."""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import Linearised
from iterlin.two_layer.networks import TwoLayer
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.config import ParamsError, load
from iterlin_lab.experiments.decay import claims
from iterlin_lab.experiments.decay import figure as figures
from iterlin_lab.experiments.decay import section as report
from iterlin_lab.experiments.decay import table as tables
from iterlin_lab.experiments.decay.run import follow_along, summary
from iterlin_lab.layout import Layout
from iterlin_lab.runs.two_layer_flows import network
from tests.clone import ROOT
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("decay")
SECTION = PRESETS["smoke"].decay


def start():
    half = np.random.default_rng(0).normal(size=(SECTION.width // 2, 3)) / np.sqrt(3)
    signs = np.repeat([1.0, -1.0], SECTION.width // 2)
    return TwoLayer(jnp.asarray(signs), jnp.asarray(np.concatenate([half, half])), 1.0, jax.nn.gelu)


def test_targets_along_the_slowest_direction_attain_the_bound_and_others_stay_below():
    """σ_min by singular values of the Jacobian itself: the rate is that of its square, over n."""
    model, x = start(), np.random.default_rng(1).normal(size=(3, 3))
    linearised = Linearised(network, model)
    vectors, singular, _ = np.linalg.svd(linearised.jacobian(jnp.asarray(x)))
    slowest, fastest = (
        summary(follow_along(SECTION, model, linearised, 0.25, x, vectors[:, [i]])) for i in (len(x) - 1, 0)
    )
    assert slowest["initial"] == pytest.approx(singular[-1] ** 2 / (3 * SECTION.width))
    # An error of θ is γσ_max times as large in f, whose residual ends at e^{−horizon/2}: log L is off by twice that.
    error = SECTION.tolerance * 0.25 * singular[0] * np.linalg.norm(ravel_pytree(model)[0])
    assert slowest["excess"] == pytest.approx(0, abs=2 * error * np.exp(SECTION.horizon / 2))
    assert slowest["rate"] == pytest.approx(2 * slowest["initial"], rel=1e-6)
    assert fastest["excess"] < -0.1


def test_the_smallest_rate_is_that_of_all_records_and_of_the_start():
    curve = pd.DataFrame({"time": np.arange(1.0, 13.0), "log_loss": [-1.0, *-3 * np.arange(2.0, 13.0)]})
    found = summary(curve.assign(initial=0.5, smallest=[0.6, 0.4, *[0.7] * 10]))
    assert found == pytest.approx({"initial": 0.5, "smallest": 0.4, "excess": -1 + 2 * 0.4, "rate": 3})


def results(excess=-1.0, ratio=1.0, number=8, smallest=0.05, own_excess=-1.0):
    """Trajectories of both kinds; the first of f_lin and the last of a network have these excesses."""
    rows = [
        {"cell": cell, "size": size, "run": run, "initial": 0.1, "smallest": 0.1, "excess": -1.0, "rate": 0.2 * ratio}
        for cell in ("linearised", "γ = N^−0.5")
        for size in (4, 8)
        for run in range(number)
    ]
    rows[0]["excess"] = excess
    rows[-1] |= {"excess": own_excess, "smallest": smallest}
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (results(), (YES, YES, YES)),
        (results(excess=1e-9), (YES, YES, YES)),  # rounding
        (results(excess=1e-3), (NO, YES, YES)),
        (results(own_excess=1e-3), (YES, NO, YES)),
        (results(smallest=0.1), (YES, NONE, YES)),  # the first is the smallest everywhere
        (results(ratio=1.2), (YES, YES, NO)),
        (results(ratio=0.3), (YES, YES, NO)),
        (results(number=4), (NONE,) * 3),
    ],
)
def test_the_claims(runs, expected):
    assert tuple(row["verdict"] for row in judge(claims.CLAIMS, tables.located(tables.named(runs)))) == expected


def test_more_examples_than_the_rank_are_refused(tmp_path):
    params = (ROOT / "params.yaml").read_text().replace("sizes: [4, 8, 16]\n", "sizes: [4, 5000]\n")
    (tmp_path / "params.yaml").write_text(params)
    with pytest.raises(ParamsError, match="decay: sizes must not exceed 1408, the rank that J can have"):
        load(tmp_path / "params.yaml")


def test_from_results_to_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Layout("smoke").results / "decay"
    folder.mkdir(parents=True)
    runs = results(excess=0.5, smallest=0.1)
    runs.to_csv(folder / "runs.csv", index=False)
    curves = pd.concat([runs[["cell", "size", "run"]].assign(time=time, log_loss=-time) for time in (1.0, 2.0)])
    curves.to_csv(folder / "curves.csv", index=False)
    made = tables.tables(PRESETS["smoke"], Layout("smoke"))
    assert made["decay"][["violated", "largest_excess"]].to_numpy().tolist() == [[1, 0.5], [0, -1], [0, -1], [0, -1]]
    assert made["decay_curves"]["scaled_time"].unique() == pytest.approx([0.2, 0.4])
    figure = figures.decay(made)
    figure.canvas.draw()
    plt.close(figure)
    text = report.section(PRESETS["smoke"], made)
    assert "1.000 [1.000, 1.000]" in text
    assert "| f, γ = N^−0.5 |" in text
