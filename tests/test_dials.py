"""E-DIALS: its recipes, what is compared at equal movement of the kernel, its claims, figure and section."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.dials.claims import CLAIMS, DIALS
from iterlin_lab.experiments.dials.figure import FIGURES
from iterlin_lab.experiments.dials.run import of_trained, recipes
from iterlin_lab.experiments.dials.section import section
from iterlin_lab.experiments.dials.settings import check
from iterlin_lab.experiments.dials.table import beside_K, converged, tables
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import save
from iterlin_lab.runs.kernels import movement
from iterlin_lab.runs.training import initial, keys, run_many
from tests.problems import noise_digits
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("dials")
SETTINGS = [("K", 1.0), ("K", 100.0), ("K", np.inf), *((dial, 0.5) for dial in DIALS)]
DISTANCES = {("K", 1.0): 0.4, ("K", 100.0): 0.2, ("K", np.inf): 0.0} | {(dial, 0.5): 0.3 for dial in DIALS}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_dial_is_turned_by_itself_with_a_seed_of_its_own(preset):
    scale = PRESETS[preset]
    own, found = scale.dials, recipes(scale)
    assert len(found) == own.num_cells
    (one, *_) = found["K", "1"]
    assert (one.seed, one.period, one.output_scale, one.damping) == (own.seed, 1, None, 0)
    assert own.seed != scale.seed
    for (dial, value), (recipe, *_) in found.items():
        changes = {"K": {"period": recipe.period}, "width": {"net": recipe.net}}
        if dial in changes:
            assert recipe == one._replace(**changes[dial])
        elif dial == "α":
            assert recipe == one._replace(output_scale=float(value), learning_rate=recipe.learning_rate)
            assert recipe.learning_rate == pytest.approx(own.flow.learning_rate / float(value) ** 2)
        elif dial == "η":
            assert (recipe.learning_rate, recipe.period, recipe.net) == (float(value), 1, one.net)
        else:
            assert (recipe.damping, recipe.period, recipe.net) == (float(value), None, one.net)


def test_widths_are_multiplied_and_none_vanishes():
    net = PRESETS["smoke"].net
    assert (net.widened(0.5).channels, net.widened(0.5).widths) == ([2, 2], [16, 8])
    assert net.widened(0.01).channels == [1, 1]
    assert net.widened(3).initialisation == net.initialisation
    transformer = scopes("vit")["smoke"].vit.net  # of width 4, with two heads
    assert transformer.widened(2).model_dump() == transformer.model_dump() | {"width": 8, "hidden": 8}
    with pytest.raises(ValueError, match="which 2 heads do not divide"):
        transformer.widened(0.25)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_examples": 61}, "dials.num_examples is 61, more than data.num_train, which is 60"),
        ({"periods": ["1", "inf"]}, 'dials.periods must contain "1", "inf" and a K between'),
        ({"periods": ["1", "10", "20"]}, 'dials.periods must contain "1", "inf" and a K between'),
        ({"dampings": ["0"]}, 'dials.dampings must not contain "0": without damping, K is the dial'),
        ({"widths": ["1.01"]}, "dials.widths: net 1.01 times as wide is the same network"),
        ({"widths": ["1.0"]}, 'dials.widths must not contain "1": that is the network of K = 1'),
    ],
)
def test_settings_that_cannot_be_compared_are_refused(changes, message):
    scale = PRESETS["smoke"]
    with pytest.raises(ValueError, match=message):
        check(scale.model_copy(update={"dials": scale.dials.model_copy(update=changes)}))


def test_rescaled_outputs_train_a_network_that_can_be_saved(tmp_path):
    """The result is the network itself, whose kernel has moved."""
    scale = PRESETS["smoke"]
    sizes = {"train": 12, "validation": 4, "test": 4}
    recipe = recipes(scale)["α", "4"][0]._replace(sizes=sizes)
    recipe = recipe._replace(training=recipe.training | {"num_steps": 20})
    records = []
    (result,), (description,) = run_many([recipe], noise_digits(60), [records.append])
    assert result.records[0]["network_train_loss"] == pytest.approx(np.log(4))  # all outputs are zero
    assert result.records[-1]["network_train_loss"] < np.log(4)
    (tmp_path / "run").mkdir()
    save(tmp_path / "run" / "model.eqx", result.model, description)
    np.savez(tmp_path / "data.npz", **noise_digits(60))
    moved = movement((tmp_path / "data.npz", 10, recipe, tmp_path / "run"))
    assert 0 < moved["kernel_distance"] < 1


def test_the_kernel_of_a_lazy_run_is_that_of_its_initialisation():
    lazy, other = (recipes(PRESETS["smoke"])["K", period][0] for period in ("inf", "10"))
    kernel = {"kernel_distance": 0.3, "alignment": 0.5, "initial_alignment": 0.2}
    assert of_trained(lazy, kernel) == {"kernel_distance": 0, "alignment": 0.2}
    assert of_trained(other, kernel) == {"kernel_distance": 0.3, "alignment": 0.5}


def test_the_initial_network_is_that_of_the_run():
    """It is what the kernel's movement is measured from."""
    recipe = recipes(PRESETS["smoke"])["K", "1"][1]
    recipe = recipe._replace(sizes={"train": 12, "validation": 4, "test": 4})
    _, init_key, _ = keys(recipe.seed, 1)
    (model, _), _, _ = initial(recipe.net, recipe.sizes, noise_digits(60), keys(recipe.seed, 1)[0], init_key)
    expected = build(**recipe.net, input_shape=(8, 8, 1), num_classes=4, key=init_key)
    np.testing.assert_array_equal(model.convolutions[0].weight, expected.convolutions[0].weight)


def test_the_accuracy_of_K_is_interpolated_over_the_movement_of_the_kernel():
    rows = [("K", 1.0, 0.4, 0.9), ("K", np.inf, 0.0, 0.7), ("K", 10.0, 0.2, 0.85)]
    rows += [("λ", 1.0, 0.1, 0.8), ("α", 1.0, 0.4, 0.8), ("η", 1.0, 0.5, 0.9), ("η", 2.0, 0.3, np.nan)]
    runs = pd.DataFrame(rows, columns=["dial", "value", "kernel_distance", "accuracy"]).assign(run=0)
    found = beside_K(runs)["at_equal_movement"]
    np.testing.assert_allclose(found, [np.nan] * 3 + [0.8 - 0.775, 0.8 - 0.9, np.nan, np.nan], atol=1e-12)


def table(shifts=(), slope=0.5, number=8, outcome="fitted", noise=0.003, **distances):
    """Runs whose accuracy is a line over the movement of the kernel, and a dial off it by so many points."""
    draw = np.random.default_rng(1)
    rows = []
    for dial, value in SETTINGS:
        distance = distances.get(dial, DISTANCES[dial, value]) + draw.uniform(0, 0.01, number)
        accuracy = 0.6 + slope * distance + dict(shifts).get(dial, 0) / 100 + draw.normal(0, noise, number)
        read = {"network_final": accuracy, "proxy_final": 0.1}
        if np.isinf(value):
            read = {"network_final": 0.1, "proxy_final": accuracy}
        own = {"dial": dial, "value": value, "run": range(number), "outcome": outcome}
        rows.append(pd.DataFrame({**own, **read, "kernel_distance": distance, "alignment": 0.5}))
    return beside_K(converged(pd.concat(rows, ignore_index=True)))


def verdicts(runs):
    return [row["verdict"] for row in judge(CLAIMS, runs)]


def test_the_claims():
    assert verdicts(table()) == [YES] * 5
    assert verdicts(table({"λ": 6, "η": -6})) == [NO, YES, YES, NO, YES]
    assert verdicts(table(slope=-0.5))[4] == NO
    assert verdicts(table(noise=0.1, number=5))[:4] == [UNKNOWN] * 4


def test_what_cannot_be_compared_is_not_judged():
    assert verdicts(table(number=4)) == [NONE] * 5
    assert verdicts(table(α=0.9)) == [YES, NONE, YES, YES, YES]
    assert verdicts(table(outcome="diverged")) == [NONE] * 5
    (_, row, *_) = judge(CLAIMS, table(α=0.9))
    assert "fewer than 5 runs fitted whose kernel moved no further than with some K" in str(row)


def test_from_results_to_tables_the_figure_and_the_section(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale, folder = PRESETS["smoke"], Layout("smoke").results / "dials"
    folder.mkdir(parents=True)
    table().to_csv(folder / "runs.csv", index=False)
    found = tables(scale, Layout("smoke"))
    assert found["dials"]["dial"].tolist() == [dial for dial, _ in SETTINGS]
    assert found["dials"].loc[found["dials"]["dial"] == "λ", "compared"].item() == 8
    figure = FIGURES["dials"](found)
    figure.canvas.draw()
    plt.close(figure)
    text = section(scale, found)
    assert "| K = ∞" in text
    assert "| α = 0.5" in text
