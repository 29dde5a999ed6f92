"""NET-RESNET: its form, its start, its state; E-RESNET: its runs, tables, claims, figures and section."""

from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.resnet.claims import FAMILIES
from iterlin_lab.experiments.resnet.figure import FIGURES
from iterlin_lab.experiments.resnet.run import cells
from iterlin_lab.experiments.resnet.section import section
from iterlin_lab.experiments.resnet.settings import check
from iterlin_lab.experiments.resnet.table import DRAWN, grid, panels, tables
from iterlin_lab.layout import Layout
from iterlin_lab.nets.resnet import Settings
from iterlin_lab.nets.shared.build import build_with_state
from iterlin_lab.nets.shared.initialise import layers
from iterlin_lab.nets.shared.saved import load, predict, save
from iterlin_lab.planning.networks import check_networks
from iterlin_lab.runs.training import run_many
from iterlin_lab.tables.summaries import ACCURACIES
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("resnet")
NORMS = ("none", "batch", "frozen", "running")
PANELS, GRID = (family.claims for family in FAMILIES)


def built(norm, channels=4, blocks=(1, 1), shape=(8, 8, 1), key=0):
    settings = {"channels": channels, "blocks": list(blocks), "norm": norm, "initialisation": "he_normal"}
    return build_with_state("resnet", shape, 10, **settings, key=jax.random.key(key))


def test_resnet_18_has_as_many_parameters_as_others_count():
    """11 173 962, with BatchNorm, on images of three colours: that of K. Liu's "pytorch-cifar"."""
    shapes = eqx.filter_eval_shape(built, "batch", 64, (2, 2, 2, 2), (32, 32, 3))[0]
    arrays = [leaf for leaf in jax.tree.leaves(shapes) if isinstance(leaf, jax.ShapeDtypeStruct)]
    assert sum(leaf.size for leaf in arrays) == 11_173_962


def test_each_stage_but_the_first_halves_the_image_and_doubles_the_channels():
    def shapes():
        model, _ = built("none", channels=3, blocks=(1, 2, 1), shape=(7, 8, 1))
        found = [model.stem(jnp.ones((7, 8, 1)), None)[0]]
        for block in model.blocks:
            found.append(block(found[-1], None)[0])
        return found

    assert [x.shape for x in eqx.filter_eval_shape(shapes)] == [(7, 8, 3), (7, 8, 3), (4, 4, 6), (4, 4, 6), (2, 2, 12)]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("blocks", [(1,), (1, 2, 1)])
def test_it_has_as_many_layers_as_its_settings_say(norm, blocks):
    settings = Settings(name="resnet", channels=2, blocks=list(blocks), norm=norm, initialisation="he_normal")
    model, _ = eqx.filter_eval_shape(built, norm, 2, blocks)
    assert len(layers(model)) == settings.num_layers


def test_without_batchnorm_depth_makes_neither_outputs_nor_derivatives_grow_at_the_start():
    """Unscaled, the outputs of eight blocks are dozens of times those of one."""
    x = jax.random.normal(jax.random.key(1), (4, 4, 1))

    @eqx.filter_jit
    def sizes(depth):
        def of_draw(key):
            model, _ = built("none", 8, (depth,), shape=x.shape, key=key)
            slope = eqx.filter_grad(lambda model: jnp.sum(model(x)))(model)
            return jnp.linalg.norm(model(x)), optax.tree.norm(slope)

        return jax.tree.map(jnp.mean, jax.vmap(of_draw)(jnp.arange(5)))

    for shallow, deep in zip(sizes(1), sizes(8), strict=True):
        assert 1 / 3 < deep / shallow < 3


@pytest.mark.parametrize("norm", NORMS)
def test_a_saved_network_predicts_what_its_last_record_says(norm, tmp_path):
    """The splits are all of the data, so that the mean over these is that over the splits."""
    scale = PRESETS["smoke"]
    recipe = cells(scale)["plain-10" if norm == "none" else "normalised-10"][0]
    recipe = recipe._replace(
        net=recipe.net | {"norm": norm, "blocks": [1, 1]}, sizes={"train": 30, "validation": 10, "test": 40}
    )
    labels = np.arange(80) % 4
    data = {
        "images": np.random.default_rng(0).uniform(size=(80, 8, 8, 1)) + labels[:, None, None, None],
        "labels": labels,
        "official_test": np.zeros(80, bool),
    }
    with jax.numpy_dtype_promotion("standard"):  # equinox's BatchNorm needs it
        (result,), (description,) = run_many([recipe], data, [lambda record: None])
    save(tmp_path / "0.eqx", result.model, description, result.state.model_state)
    saved = load(tmp_path / "0.eqx")
    assert (saved.state is None) == (norm == "none")
    with jax.numpy_dtype_promotion("standard"):
        right = np.asarray(predict(saved, jnp.asarray(data["images"])).argmax(1)) == labels
    said = [size * result.records[-1][f"network_{name}_accuracy"] for name, size in recipe.sizes.items()]
    assert right.sum() == pytest.approx(sum(said))
    assert 20 < right.sum() < 80


@pytest.mark.parametrize("preset", PRESETS)
def test_runs_of_one_number_share_their_keys_and_data_in_all_cells(preset):
    scale = PRESETS[preset]
    found = cells(scale)
    assert list(found) == [*panels(scale), *grid(scale)]
    for name, recipes in found.items():
        assert [recipe.run for recipe in recipes] == [*range(len(recipes))]
        part = scale.resnet.panels.get(name.split("-")[0], scale.resnet.grid)
        assert {(recipe.seed, str(recipe.sizes)) for recipe in recipes} == {(part.seed, str(scale.data.sizes))}
        assert recipes[0].training["fit_loss"] is None, name
    for norm, rate in product(scale.resnet.grid.norms, scale.resnet.grid.learning_rates):
        recipe = found[f"{norm}-{rate:g}-10" if preset != "paper" else f"{norm}-{rate:g}-100"][0]
        assert (recipe.net["norm"], recipe.learning_rate, recipe.augmentation) == (norm, rate, None)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("grid", {"batch_size": 10**6}, "resnet.grid.batch_size is 1000000, more than data.num_train"),
        ("plain", {"batch_size": 10**6}, "resnet.plain.batch_size is 1000000, more than data.num_train"),
        ("normalised", {"batch_size": None}, "resnet.normalised.batch_size must be a number: augmentation takes"),
    ],
)
def test_settings_that_do_not_fit_are_refused(part, change, message):
    scale = PRESETS["smoke"]
    own = scale.resnet.model_copy(update={part: getattr(scale.resnet, part).model_copy(update=change)})
    with pytest.raises(ValueError, match=message):
        check(scale.model_copy(update={"resnet": own}))


def test_batchnorm_is_refused_where_experiments_take_networks_apart():
    from iterlin_lab.config import load as load_params

    scale = load_params().presets["smoke"]
    net = Settings(name="resnet", channels=2, blocks=[1], norm="batch", initialisation="he_normal")
    with pytest.raises(SystemExit, match=r"scale\.net: the network resnet knows its batch"):
        check_networks(scale.model_copy(update={"net": net}))


def runs_of(claims, favourable):
    """Runs of panels that are alike or not, and of a grid in which BatchNorm diverges more or less."""
    rows = []
    for panel, K, run in product(("plain", "normalised"), (1.0, 100.0), range(7)):
        gap = 0.0 if favourable or K == 1 else -0.1
        rows.append(
            {"method": panel, "K": K, "run": run, "network_final": 0.8 + run / 100 + gap, "outcome": "step_limit"}
        )
    tried = []
    worse = "batch" if favourable else "other"
    for norm, run, K in product(("none", "batch", "frozen"), range(7), (1.0, 10.0)):
        bad = K == 10 and (norm == worse or (worse == "other" and norm != "batch"))
        tried.append({"method": norm, "run": run, "K": K, "outcome": "diverged" if bad else "step_limit"})
    return pd.DataFrame(rows if claims is PANELS else tried)


@pytest.mark.parametrize("claims", [PANELS, GRID], ids=["panels", "grid"])
def test_a_claim_can_hold_and_can_fail(claims):
    assert [row["verdict"] for row in judge(claims, runs_of(claims, favourable=True))] == [YES, YES]
    assert [row["verdict"] for row in judge(claims, runs_of(claims, favourable=False))] == [NO, NO]


def test_a_grid_in_which_nothing_diverges_says_nothing():
    runs = runs_of(GRID, favourable=True).assign(outcome="step_limit")
    assert [row["verdict"] for row in judge(GRID, runs)] == [NONE, NONE]


def test_a_claim_on_one_panel_says_which_one_has_runs_that_diverged():
    runs = runs_of(PANELS, favourable=True)
    runs.loc[(runs["method"] == "plain") & (runs["K"] > 1) & (runs["run"] < 2), "outcome"] = "diverged"
    (row, other) = judge(PANELS, runs)
    assert (row["verdict"], other["verdict"]) == (NONE, YES)
    assert "(diverged: 2 of 7 at plain, K = 100)" in row["evidence"]


def test_tables_figures_and_section_are_made_of_its_results(tmp_path, monkeypatch):
    """K = 10 is 0.1 above K = 1, and half of its runs diverge in the grid."""
    monkeypatch.chdir(tmp_path)
    scale = PRESETS["smoke"]
    for name, recipes in cells(scale).items():
        large = name.endswith("-10")
        diverged = large and name in grid(scale)
        _write(Layout(scale.name).results / "resnet" / name, len(recipes), 0.6 if large else 0.5, diverged)
    made = tables(scale, Layout(scale.name))
    assert made["resnet_grid"]["share"].tolist() == [0, 0.5] * 2
    assert made["resnet_grid"]["median_network_final"].tolist() == [0.5, 0.6] * 2
    assert made["resnet"]["network_final_difference_mean"].tolist() == pytest.approx([0, 0.1] * 2)
    for draw in FIGURES.values():
        plt.close(draw(made))
    text = section(scale, made)
    assert "without BatchNorm 30 on full batches" in text
    assert "with BatchNorm 30 on augmented mini-batches of 20" in text


def _write(folder, number, accuracy, diverged):
    """Runs with this accuracy, of which the first may have diverged."""
    folder.mkdir(parents=True)
    ends = {"outcome": ["diverged" if diverged else "step_limit", *["step_limit"] * (number - 1)], "run": range(number)}
    ends |= {"last_phase_ended": True, "steps": 30, "feature_updates": 3, "evaluations": 30}
    pd.DataFrame(ends | dict.fromkeys(ACCURACIES, accuracy)).to_csv(folder / "runs.csv", index=False)
    curve = {"run": np.repeat(range(number), 2), "step": [0, 30] * number}
    pd.DataFrame(curve | dict.fromkeys(DRAWN, accuracy)).to_csv(folder / "curves.csv", index=False)
