"""E-PART: runs that train some layers alone, their tables, claims, figure and section."""

import jax
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.parts.claims import CLAIMS
from iterlin_lab.experiments.parts.figure import FIGURES
from iterlin_lab.experiments.parts.run import cells
from iterlin_lab.experiments.parts.section import section
from iterlin_lab.experiments.parts.settings import counts
from iterlin_lab.experiments.parts.table import compared, tables
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.initialise import layers
from iterlin_lab.runs.recipes import make_recipe
from iterlin_lab.runs.summary import summary
from iterlin_lab.runs.training import initial, keys, run_many
from tests.problems import noise_digits
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("parts")


@pytest.mark.parametrize("preset", PRESETS)
def test_cells_differ_in_the_last_layers_that_are_trained_and_in_k_alone(preset):
    scale = PRESETS[preset]
    found, num_layers = cells(scale), scale.net.num_layers
    assert list(found) == [f"{count}-{K}" for count in counts(scale) for K in scale.parts.periods]
    for count in counts(scale):
        for K in scale.parts.periods:
            for run, recipe in enumerate(found[f"{count}-{K}"]):
                assert recipe.layers == [*range(num_layers)][-count:]
                whole = found[f"{num_layers}-1"][run]
                assert recipe == whole._replace(layers=recipe.layers, period=float(K))
                assert (recipe.run, recipe.seed) == (run, scale.parts.seed)
    assert counts(scale)[-1] == num_layers


def test_no_other_seed_of_its_preset_is_that_of_the_parts():
    assert all(scale.parts.seed != scale.seed for scale in PRESETS.values())


def recipe(**changes):
    """A run of a few explicit steps on few examples."""
    sizes = {"train": 12, "validation": 4, "test": 4}
    settings = {"solver": {"name": "gradient_descent"}, "learning_rate": 0.01, "num_steps": 6, "period": 3}
    return make_recipe(PRESETS["smoke"], 0, sizes=sizes, **(settings | changes))


def trained(recipe):
    """The network before training, and the result."""
    data = noise_digits(20)
    (before, _), _, _ = initial(recipe.net, recipe.sizes, data, *keys(recipe.seed, recipe.run)[:2])
    (result,), _ = run_many([recipe], data, [lambda record: None])
    return before, result


def test_a_recipe_trains_its_layers_and_leaves_the_others_as_they_are():
    chosen = recipe(layers=[1, 4])
    before, result = trained(chosen)
    for number, pair in enumerate(zip(layers(before), layers(result.model), strict=True)):
        changed = [bool((new != old).any()) for old, new in zip(*map(jax.tree.leaves, pair), strict=True)]
        assert changed == [number in (1, 4)] * 2
    row = summary(chosen, result)
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(layer)) for layer in layers(before)]
    assert (row["trained_parameters"], row["parameters"]) == (sizes[1] + sizes[4], sum(sizes))


def test_a_recipe_of_all_layers_is_one_that_names_none():
    (_, named), (_, plain) = trained(recipe(layers=[*range(5)])), trained(recipe())
    assert named.records == plain.records
    assert "parameters" not in summary(recipe(), plain)


def results(folder, scale, outcome="fitted"):
    """Two runs of every cell. A layer more brings 0.1 at K = 1 and half as much at K = ∞."""
    for count in counts(scale):
        for K, slope in {"1": 0.1, "inf": 0.05}.items():
            of_lazy = K == "inf"
            path = folder / f"{count}-{K}"
            path.mkdir(parents=True)
            rows = [
                {"run": run, "outcome": outcome, "trained_parameters": 20 * count, "parameters": 100}
                | {"network_train_loss": 9.0, "network_validation_stopped": 0.1 if of_lazy else 0.3 + slope * count}
                | {"proxy_validation_stopped": 0.3 + slope * count if of_lazy else 0.1}
                for run in range(2)
            ]
            pd.DataFrame(rows).to_csv(path / "runs.csv", index=False)
            losses = {"network_train_loss": 9.0 if of_lazy else 0.5, "proxy_train_loss": 0.25 if of_lazy else 9.0}
            curve = [{"run": run, "step": step, **losses} for run in range(2) for step in (0, 10)]
            pd.DataFrame(curve).to_csv(path / "curves.csv", index=False)


@pytest.mark.parametrize("outcome", ["fitted", "diverged"])
def test_from_results_to_tables_the_figure_and_the_section(tmp_path, monkeypatch, outcome):
    monkeypatch.chdir(tmp_path)
    scale = PRESETS["smoke"]
    results(Layout("smoke").results / "parts", scale, outcome)
    found = tables(scale, Layout("smoke"))
    for row in found["parts"].to_dict("records"):
        count, (slope, loss) = row["layers"], (0.05, 0.25) if np.isinf(row["K"]) else (0.1, 0.5)
        means = [row[f"{name}_mean"] for name in ("accuracy", "loss", "difference", "gain")]
        assert means == pytest.approx([0.3 + slope * count, loss, slope * (count - 5), (0.1 - slope) * count])
        assert (row["share"], row["runs"], row[outcome]) == (pytest.approx(count / 5), 2, 2)
    figure = FIGURES["parts"](found)
    figure.canvas.draw()
    plt.close(figure)
    text = section(scale, found)
    assert "| 1        |        20 |  20.0 % |   ∞ |" in text
    assert "*Trained* is how many of the 100 parameters are" in text


def runs(lazy, descent, noise=0.005, number=5, **columns):
    """A table of runs that reach `lazy` and `descent` points more than a head with each part."""
    draw, rows = np.random.default_rng(1), []
    level = draw.normal(0.6, 0.05, number)
    for K, shifts in {1.0: descent, np.inf: lazy}.items():
        for count, shift in zip((1, 2, 3, 5), shifts, strict=True):
            accuracy = level + shift / 100 + draw.normal(0, noise, number)
            ended = {"layers": count, "K": K, "run": range(number), "trained_parameters": 20 * count, "parameters": 100}
            read = dict.fromkeys(("network_validation_stopped", "proxy_validation_stopped"), accuracy)
            rows.append(pd.DataFrame({**ended, **read, "network_train_loss": 0.1, "outcome": "step_limit"}))
    table = pd.concat(rows, ignore_index=True)
    curves = table[["layers", "K", "run"]].assign(network_train_loss=0.1, proxy_train_loss=0.1)
    return compared(table, curves).assign(**columns)


def verdicts(table):
    return [row["verdict"] for row in judge(CLAIMS, table)]


@pytest.mark.parametrize(
    ("lazy", "descent", "expected"),
    [
        ((0, 4, 7, 10), (0, 7, 12, 19), [YES, YES, YES]),
        ((0, 1, 2, 2), (0, 7, 12, 19), [NO, YES, YES]),
        ((0, 4, 7, 10), (0, 1, 2, 2), [YES, NO, NO]),
        ((0, 4, 7, 10), (0, 4, 7, 10), [YES, YES, UNKNOWN]),
    ],
)
def test_the_claims(lazy, descent, expected):
    assert verdicts(runs(lazy, descent)) == expected


def test_noisy_few_or_diverged_runs_decide_nothing():
    whole = (0, 4, 7, 10), (0, 7, 12, 19)
    assert verdicts(runs(*whole, noise=0.3)) == [UNKNOWN] * 3
    assert verdicts(runs(*whole, number=4)) == [NONE] * 3
    assert verdicts(runs(*whole, outcome="diverged")) == [NONE] * 3
    without = runs(*whole)
    assert verdicts(without[without["layers"] > 1])[:2] == [NONE] * 2
