"""E-QUAD: its recipes, distances of expansions from the network, its claims, figure and section."""

import jax
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin import Expanded, functional
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.quadratic.claims import CLAIMS
from iterlin_lab.experiments.quadratic.figure import FIGURES
from iterlin_lab.experiments.quadratic.run import recipes
from iterlin_lab.experiments.quadratic.section import section
from iterlin_lab.experiments.quadratic.settings import NETWORK, check
from iterlin_lab.experiments.quadratic.table import compared, nearer, tables
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import save
from iterlin_lab.runs.expansions import distances
from iterlin_lab.runs.results import snapshot
from iterlin_lab.runs.splits import draw_splits
from iterlin_lab.runs.training import keys, run_many
from iterlin_lab.tables import ACCURACIES
from tests.problems import noise_digits
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("quadratic")
ORDERS = (NETWORK, 1, 2)


@pytest.mark.parametrize("preset", PRESETS)
def test_recipes_differ_in_the_model_alone_and_have_a_seed_of_their_own(preset):
    scale = PRESETS[preset]
    network, linear, quadratic = (recipes(scale)[order][1] for order in ORDERS)
    assert (network.period, linear.period) == (1, np.inf)
    assert network._replace(period=np.inf) == linear == quadratic._replace(order=1)
    assert quadratic.order == 2
    assert network.training["fit_loss"] is None
    assert network.snapshots
    assert scale.quadratic.seed == network.seed != scale.seed


def test_the_order_of_a_recipe_is_that_of_its_expansion():
    """The records of the proxy are of the quadratic expansion at the parameters that were trained."""
    short = recipes(PRESETS["smoke"])[2][0]._replace(sizes={"train": 12, "validation": 4, "test": 4})
    short = short._replace(training=short.training | {"num_steps": 10}, snapshots=False)
    (result,), _ = run_many([short], noise_digits(60), [lambda record: None])
    split_key, init_key, _ = keys(short.seed, 0)
    splits, _ = draw_splits(noise_digits(60), short.sizes, split_key)
    params0, fn = functional(build(**short.net, input_shape=(8, 8, 1), num_classes=4, key=init_key))
    x, y = splits["train"]
    logits = Expanded(fn, params0, 2)(functional(result.model)[0], x)
    expected = -jax.nn.log_softmax(logits)[np.arange(12), y].mean()
    assert result.records[-1]["proxy_train_loss"] == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_examples": 61}, "quadratic.num_examples is 61, more than data.num_train, which is 60"),
        ({"first_record": 101}, "quadratic.first_record is 101, more than num_steps, which is 100"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, message):
    scale = PRESETS["smoke"]
    with pytest.raises(ValueError, match=message):
        check(scale.model_copy(update={"quadratic": scale.quadratic.model_copy(update=changes)}))


def test_distances_are_relative_to_the_change_of_the_network(tmp_path):
    """An expansion at the network's own parameters is off by its remainder, and where nothing moved, by all of it."""
    scale = PRESETS["smoke"]
    net = scale.net.model_dump() | {"input_shape": (8, 8, 1), "num_classes": 4}
    start = build(**net, key=jax.random.key(0))
    moved = jax.tree.map(lambda weight: weight * 1.01, start)
    saved = {"net": net, "mean": 0.0, "deviation": 1.0}
    at = {NETWORK: {0: start, 5: moved, 9: moved}, 1: {0: start, 5: moved}, 2: {0: start, 5: moved, 9: start}}
    for order, models in at.items():
        (tmp_path / str(order)).mkdir()
        for step, model in models.items():
            save(snapshot(tmp_path / str(order), step), model, saved)
    np.savez(tmp_path / "data.npz", **noise_digits(500))
    (recipe, *_), folders = recipes(scale)[NETWORK], {order: tmp_path / str(order) for order in ORDERS}
    rows = distances((tmp_path / "data.npz", 20, (recipe, folders.pop(NETWORK)), folders))
    assert [(row["order"], row["step"]) for row in rows] == [(1, 5), (2, 5), (2, 9)]
    linear, quadratic, still = (row["test_distance"] for row in rows)
    assert 0 < quadratic < linear / 10
    assert still == pytest.approx(1)


def test_the_ratio_of_distances_is_a_mean_over_log_steps():
    rows = [(1, 0, 10, 0.1), (2, 0, 10, 0.05), (1, 0, 100, 0.2), (2, 0, 100, 0.2)]
    table = pd.DataFrame(rows, columns=["order", "run", "step", "test_distance"])
    found = nearer(table.assign(train_distance=table["test_distance"]))
    assert found["log_test_distance_ratio"].tolist() == pytest.approx([np.log(0.5) / 2])


def runs(better, ratio, behind=10, number=8, outcome="step_limit"):
    """Runs whose order 2 is so many points better than order 1 and behind the network, with this ratio of distances."""
    draw, rows = np.random.default_rng(1), []
    level = draw.normal(0.8, 0.05, number)
    for order, shift in {NETWORK: behind, 1: -better, 2: 0}.items():
        accuracy = level + shift / 100 + draw.normal(0, 0.003, number)
        other = "proxy" if order == NETWORK else "network"
        read = dict.fromkeys(ACCURACIES, accuracy) | {f"{other}_validation_stopped": 0.1, f"{other}_final": 0.1}
        ended = {"outcome": outcome, "log_test_distance_ratio": np.log(ratio) + draw.normal(0, 0.02, number)}
        rows.append(pd.DataFrame({"order": order, "run": range(number), **ended, **read}))
    return compared(pd.concat(rows, ignore_index=True))


def verdicts(table):
    return [row["verdict"] for row in judge(CLAIMS, table)]


def test_the_claims():
    assert verdicts(runs(3, 0.8)) == [YES, YES, NO]
    assert verdicts(runs(-3, 1.2, behind=0)) == [NO, NO, YES]
    assert verdicts(runs(0, 1))[:2] == [UNKNOWN, UNKNOWN]
    assert verdicts(runs(3, 0.8, number=4)) == [NONE] * 3
    assert verdicts(runs(3, 0.8, outcome="diverged")) == [YES, NONE, NONE]


def test_from_results_to_tables_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale, folder = PRESETS["smoke"], Layout("smoke").results / "quadratic"
    folder.mkdir(parents=True)
    runs(3, 0.8).drop(columns="log_test_distance_ratio").to_csv(folder / "runs.csv", index=False)
    rows = [(order, run, step, step / 300) for order in (1, 2) for run in range(8) for step in (10, 30, 100)]
    found = pd.DataFrame(rows, columns=["order", "run", "step", "test_distance"])
    found.assign(train_distance=found["test_distance"]).to_csv(folder / "distances.csv", index=False)
    found = tables(scale, Layout("smoke"))
    assert found["quadratic"]["order"].tolist() == list(ORDERS)
    assert len(found["quadratic_runs"]) == 24
    figure = FIGURES["quadratic"](found)
    figure.canvas.draw()
    plt.close(figure)
    text = section(scale, found)
    assert "| quadratic |" in text
    assert "| 10  |" in text
    assert "30" not in text.split("| K")[1].split("*Geometric")[0]
