"""E-PROBE: the probes themselves, which networks have them, its tables, its claims, and how it is shown."""

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from iterlin._records import log_spaced_steps
from iterlin_lab.data.prepare import npz
from iterlin_lab.experiments.probes import figure as figures
from iterlin_lab.experiments.probes import run as linear_probes
from iterlin_lab.experiments.probes import run as probes
from iterlin_lab.experiments.probes import section as report
from iterlin_lab.experiments.probes import table as tables
from iterlin_lab.experiments.probes.settings import Probes
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import save
from iterlin_lab.settings.base import parse_period
from tests.whole import levelling_off, scopes

PRESETS = scopes("probes")
SETTINGS = Probes(strengths=[1e-3, 1.0, 0.1], tolerance=1e-6, max_iterations=1000, every=1)


@pytest.mark.parametrize("preset", PRESETS)
def test_all_periods_have_probes_at_the_same_steps_but_for_ends_of_phases(preset):
    scale = PRESETS[preset]
    experiment = scale.augmentation
    num_steps, large = experiment.num_steps, int(parse_period(experiment.periods[-1]))
    grid = set(log_spaced_steps(num_steps, experiment.records_per_decade))
    ends = set(range(0, num_steps + 1, large))
    one, other = (set(probes.probed(scale, steps)) for steps in (grid, grid | ends))
    assert {0, 1, num_steps} <= one <= grid
    assert other == one | ends
    assert len(one) >= len(grid) / scale.probes.every


def blobs(n, separation, seed=0):
    """Features of three classes, of which one column is constant, with the splits' names."""
    draw = np.random.default_rng(seed)
    centres = separation * draw.normal(size=(3, 4))
    labels = {name: np.arange(n) % 3 for name in ("train", "validation", "test")}
    return {
        name: (np.column_stack([centres[y] + draw.normal(size=(n, 4)), np.ones(n)]), y) for name, y in labels.items()
    }


def test_the_gradient_is_that_of_the_regularised_mean_loss():
    x, y = blobs(60, 1.0)["train"]
    classifier = LogisticRegression(C=1 / (0.3 * len(x)), tol=0.02).fit(x, y)

    def loss(weights, bias):
        losses = optax.softmax_cross_entropy_with_integer_labels(x @ weights.T + bias[None], jnp.asarray(y))
        return losses.mean() + 0.3 / 2 * jnp.sum(weights**2)

    gradient = jax.jit(jax.grad(loss, (0, 1)))(jnp.asarray(classifier.coef_), jnp.asarray(classifier.intercept_))
    expected = max(float(jnp.abs(part).max()) for part in gradient)
    assert expected > 1e-6
    assert linear_probes.largest_gradient(classifier, x, y) == pytest.approx(expected)


def test_the_strength_is_that_of_the_best_validation_accuracy_and_units_do_not_matter():
    examples = blobs(90, 0.7)
    probe = linear_probes.fit_probe(examples, SETTINGS)
    alone = [
        linear_probes.fit_probe(examples, SETTINGS.model_copy(update={"strengths": [strength]}))
        for strength in sorted(SETTINGS.strengths, reverse=True)
    ]
    assert all(one.converged for one in (probe, *alone))
    assert probe == max(alone, key=lambda one: one.validation_accuracy)
    other_units = {name: (3 + 50 * x, y) for name, (x, y) in examples.items()}
    assert linear_probes.fit_probe(other_units, SETTINGS) == probe


def test_of_equally_good_strengths_the_largest_is_taken_and_what_did_not_converge_is_told():
    examples = blobs(60, 20.0)
    assert linear_probes.fit_probe(examples, SETTINGS) == (1.0, 1.0, 1.0, True)
    cut_off = SETTINGS.model_copy(update={"max_iterations": 1})
    assert not linear_probes.fit_probe(examples, cut_off).converged


def test_every_layer_of_every_network_of_a_run_is_probed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = SETTINGS.model_copy(update={"strengths": [0.1], "tolerance": 1e-3})
    scale = PRESETS["smoke"].model_copy(update={"probes": settings})
    draw, shape = np.random.default_rng(0), (8, 8, 1)
    images, labels = draw.normal(size=(500, *shape)), np.arange(500) % 3
    data = {"images": images, "labels": labels, "official_test": np.zeros(500, bool)}
    (tmp_path / "data.npz").write_bytes(npz(data))
    net = {"name": "lenet", "input_shape": shape, "num_classes": 3, "kernel": 3, "padding": "SAME"}
    net |= {"channels": [50, 50], "widths": [120, 84], "initialisation": "he_normal"}
    model = build(**net, key=jax.random.key(0))
    files = {0: tmp_path / "0.eqx", 7: tmp_path / "7.eqx"}
    for file, factor in zip(files.values(), (1, np.nan), strict=True):
        weight = factor * model.convolutions[1].weight
        changed = eqx.tree_at(lambda model: model.convolutions[1].weight, model, weight)
        save(file, changed, {"net": net, "mean": 0.0, "deviation": 1.0})
    rows = pd.DataFrame(linear_probes.probe_run((scale, tmp_path / "data.npz", files, 0)))
    assert rows[["step", "layer"]].to_numpy().tolist() == [[0, 1], [0, 2], [7, 1], [7, 2]]
    assert rows["converged"].tolist() == [True, True, True, False]
    assert rows["test_accuracy"].isna().tolist() == [False, False, False, True]
    splits, _ = linear_probes.draw_splits(data, scale.data.sizes, linear_probes.keys(scale.seed, 0)[0])
    second = jax.jit(lambda x: jax.vmap(model.activations)(x)[1].reshape(len(x), -1))
    examples = {name: (np.asarray(second(x), np.float64), np.asarray(y)) for name, (x, y) in splits.items()}
    assert rows.loc[1, "test_accuracy"] == linear_probes.fit_probe(examples, settings).test_accuracy
    monkeypatch.setattr(linear_probes, "fit_probe", None)  # what is kept is not fitted again
    assert pd.DataFrame(linear_probes.probe_run((scale, tmp_path / "data.npz", files, 0))).equals(rows)


def curve(*points):
    return pd.Series(dict(points))


def test_readings_of_curves_with_known_answers():
    large = curve((0, 0.5), (1, 0.5), (10, 0.5), (100, 0.6), (1000, 0.7))
    one = curve((0, 0.5), (1, 0.55), (10, 0.65), (100, 0.75), (1000, 0.9))
    found = tables.readings(large, one, period=100)
    assert found == pytest.approx(
        {
            "start": 0.5,
            "first": 0.6,
            "one_first": 0.75,
            "final": 0.7,
            "halfway": 100,
            "one_halfway": 10**0.5,  # 0.6 is in the middle of 0.55 and 0.65
            "delay": 100 / 10**0.5,
            "fraction": 10**1.5 / 1000,
        }
    )
    of_itself = tables.readings(one, one, period=1)
    assert [of_itself[name] for name in ("first", "delay", "fraction")] == pytest.approx([0.55, 1, 1])


def test_what_is_not_reached_counts_at_the_end_and_what_is_not_there_is_missing():
    large, one = curve((0, 0.5), (10, 0.9)), curve((0, 0.5), (10, 0.6))
    behind = tables.readings(large, one, period=10)
    assert (behind["one_halfway"], behind["fraction"]) == (10, 1)
    assert np.isnan(tables.readings(one - curve((0, 0), (10, 0.2)), one, period=10)["delay"])  # nothing was gained
    diverged = tables.readings(large, one, 10, diverged=True)
    assert [name for name, value in diverged.items() if not np.isnan(value)] == ["start", "first", "one_first"]
    alone = tables.readings(large, one, 10, one_diverged=True)
    assert np.isnan([alone[name] for name in ("one_halfway", "delay", "fraction")]).all()
    assert alone["final"] == 0.9


def results(layout, scale, diverged=False):
    """What the stages write: probes that rise in log steps, those of the large K by half as much."""
    rows, num_steps = [], scale.augmentation.num_steps
    for period, slope in zip(scale.augmentation.periods, (0.4, 0.2), strict=True):
        folder = layout.results / "augmentation" / period
        folder.mkdir(parents=True)
        outcome = "diverged" if diverged and period != "1" else "step_limit"
        ended = pd.DataFrame({"run": range(scale.augmentation.num_seeds), "outcome": outcome})
        ended.to_csv(folder / "runs.csv", index=False)
        levelling_off(folder, int(period), ended["run"])
        for run in ended["run"]:
            for step in (0, 1, 20, 40, num_steps):
                gone = np.log(max(step, 1)) / np.log(num_steps)
                probe = {"strength": 0.1, "validation_accuracy": 0.9, "converged": True}
                for layer in (1, 2):
                    accuracy = 0.5 + 0.01 * run + slope * gone / layer
                    rows.append({"period": period, "run": run, "step": step, "layer": layer, "test_accuracy": accuracy})
                    rows[-1] |= probe
    (layout.results / "probes").mkdir()
    pd.DataFrame(rows).to_csv(layout.results / "probes" / "probes.csv", index=False)


@pytest.mark.parametrize("diverged", [False, True])
def test_from_results_to_the_figure_and_the_section(tmp_path, monkeypatch, diverged):
    monkeypatch.chdir(tmp_path)
    scale, layout = PRESETS["smoke"], Layout("smoke")
    results(layout, scale, diverged)
    made = tables.tables(scale, layout)
    first, second, *_ = made["probes"].query("K != 1").to_dict("records")
    assert (first["layer"], first["diverged"], first["converged"]) == (1, 2 * diverged, 1)
    if not diverged:
        assert first["difference_mean"] == pytest.approx(-0.2)
        assert second["difference_mean"] == pytest.approx(-0.1)
        num_steps = scale.augmentation.num_steps
        assert first["fraction_mean"] == pytest.approx(num_steps**-0.5)
        assert first["delay_mean"] == pytest.approx(num_steps**0.25)
    figure = figures.probes(made)
    figure.canvas.draw()
    plt.close(figure)
    lines = report.section(scale, made).splitlines()
    row = next(line for line in lines if line.startswith("| 1 ") and "| 20 |" in " ".join(line.split()))
    assert [cell.strip() for cell in row.split("|")][8] == ("–" if diverged else "-20.0 ± 0.0")
