"""NET-VIT and E-VIT: the network and its derivatives, its recipes, tables, claims, figure and section."""

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import empirical_ntk, functional
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.vit.claims import CLAIMS
from iterlin_lab.experiments.vit.figure import FIGURES
from iterlin_lab.experiments.vit.run import recipes
from iterlin_lab.experiments.vit.section import section
from iterlin_lab.experiments.vit.settings import check
from iterlin_lab.experiments.vit.table import compared, tables
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import save
from iterlin_lab.nets.vit import Settings
from iterlin_lab.nets.vit.module import ViT
from iterlin_lab.runs.kernels import movement, traced_ntk
from iterlin_lab.runs.training import keys
from iterlin_lab.tables import ACCURACIES
from tests.problems import noise_digits, same
from tests.whole import scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("vit")
NET = {"patch": 2, "width": 6, "heads": 2, "hidden": 5, "depth": 2, "initialisation": "lecun_normal"}
IMAGES = jax.random.normal(jax.random.key(1), (3, 4, 6, 2))


def network(**changes):
    return build("vit", (4, 6, 2), 3, key=jax.random.key(0), **(NET | changes))


def normed(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def linear(layer, x):
    return np.asarray(x) @ np.asarray(layer.weight).T + np.asarray(layer.bias)


def attended(attention, x):
    """Multi-head attention, a head at a time."""
    q, k, v = (linear(layer, x) for layer in (attention.query_proj, attention.key_proj, attention.value_proj))
    heads = []
    for own in np.split(np.arange(x.shape[1]), attention.num_heads):
        scores = q[:, own] @ k[:, own].T / np.sqrt(len(own))
        weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        heads.append(weights @ v[:, own])
    return linear(attention.output_proj, np.concatenate(heads, axis=1))


def test_it_is_its_formula():
    """Biases are drawn too: those of a fresh network are zero."""
    params, static = eqx.partition(network(), eqx.is_inexact_array)
    flat, unravel = ravel_pytree(params)
    model = eqx.combine(unravel(jax.random.normal(jax.random.key(2), flat.shape) / 2), static)
    for image in IMAGES:
        squares = [image[i : i + 2, j : j + 2].ravel() for i in (0, 2) for j in (0, 2, 4)]
        x = linear(model.patches, np.stack(squares)) + np.asarray(model.positions.weight.T)
        same(model.activations(image)[0], x)
        for number, block in enumerate(model.blocks):
            x = x + attended(block.attention, normed(x))
            x = x + linear(block.fall, np.asarray(jax.nn.gelu(linear(block.rise, normed(x)))))
            if number == 0:
                same(model.activations(image)[1], x)
        same(model(image), linear(model.head, normed(x).mean(0)))


def test_positions_tell_patches_apart():
    """Without them the order of the patches does not matter, since attention and the mean know none."""
    model, image = network(), IMAGES[0]
    swapped = jnp.concatenate([image[2:], image[:2]])
    blind = eqx.tree_at(lambda model: model.positions.weight, model, replace_fn=jnp.zeros_like)
    same(blind(image), blind(swapped))
    assert np.abs(model(image) - model(swapped)).max() > 1e-3


def test_derivatives_go_through_attention_in_both_ways_and_in_both_at_once():
    """The tangent, its transpose, and the tangent of the gradient, against differences and full second derivatives."""
    params, fn = functional(network(depth=1, width=4, hidden=3))
    flat, unravel = ravel_pytree(params)
    direction = jax.random.normal(jax.random.key(3), flat.shape)
    direction /= jnp.linalg.norm(direction)

    def outputs(theta):
        return fn(unravel(theta), IMAGES)

    def loss(theta):
        return jnp.sum(jnp.sin(outputs(theta)))

    def difference(f, step=1e-5):
        return (f(flat + step * direction) - f(flat - step * direction)) / (2 * step)

    tangent = jax.jvp(outputs, (flat,), (direction,))[1]
    np.testing.assert_allclose(tangent, difference(outputs), rtol=1e-6, atol=1e-8)
    cotangent = jax.random.normal(jax.random.key(4), tangent.shape)
    same(jax.vjp(outputs, flat)[1](cotangent)[0] @ direction, jnp.sum(cotangent * tangent))
    bent = jax.jvp(jax.grad(loss), (flat,), (direction,))[1]
    np.testing.assert_allclose(bent, difference(jax.grad(loss)), rtol=1e-5, atol=1e-7)
    same(bent, jax.jacfwd(jax.jacrev(loss))(flat) @ direction)


def test_its_filters_and_parts_are_those_of_the_embedding_the_first_block_and_the_rest():
    model = network()
    same(model.filters[1, 0, 1], model.patches.weight[:, 5])
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(part, eqx.is_array))) for part in model.parts]
    in_block = 4 * (6 * 6 + 6) + (6 * 5 + 5) + (5 * 6 + 6)
    assert sizes == [8 * 6 + 6 + 6 * 6, in_block, in_block + 6 * 3 + 3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 4}, "width is 6, which 4 heads do not divide: each has a part of it"),
        ({"heads": 0}, "heads\n  Input should be greater than or equal to 1"),
        ({"patch": 100}, "patch\n  Input should be less than or equal to 99"),
        ({"depth": 101}, "depth\n  Input should be less than or equal to 100"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Settings.model_validate({"name": "vit"} | NET | changes)


def test_patches_that_do_not_cover_the_images_are_refused():
    with pytest.raises(ValueError, match="patches of 3×3 do not cover images of 6×8: take a patch that divides both"):
        ViT((6, 8, 1), 10, patch=3, key=jax.random.key(0))


@pytest.mark.parametrize("preset", PRESETS)
def test_recipes_differ_in_k_alone_and_have_a_seed_of_their_own(preset):
    scale = PRESETS[preset]
    own = scale.vit
    first, *others = (runs[1] for runs in recipes(scale).values())
    assert all(other._replace(period=first.period) == first for other in others)
    assert (first.run, first.seed, first.net) == (1, own.seed, own.net.model_dump())
    assert first.training["fit_loss"] is first.training["batch_size"] is None
    assert own.seed != scale.seed


def test_more_examples_than_there_are_are_refused():
    scale = PRESETS["smoke"]
    own = scale.vit.model_copy(update={"num_examples": 61})
    with pytest.raises(ValueError, match=r"vit.num_examples is 61, more than data.num_train, which is 60"):
        check(scale.model_copy(update={"vit": own}))


def test_the_kernel_is_the_trace_of_the_ntk_and_its_distance_is_from_the_first_network(tmp_path):
    model, x = network(), IMAGES
    params, fn = functional(model)
    kernel = empirical_ntk(fn, params, x)
    same(traced_ntk(model, x), sum(kernel[:, o, :, o] for o in range(3)))
    scale = PRESETS["smoke"]
    net = scale.vit.net.model_dump() | {"input_shape": (8, 8, 1), "num_classes": 4}
    (recipe, *_) = recipes(scale)["1"]
    first, other = (build(**net, key=key) for key in (keys(recipe.seed, 0)[1], jax.random.key(0)))
    trained = []
    for name, model in (("same", first), ("other", other)):
        (tmp_path / name).mkdir()
        save(tmp_path / name / "model.eqx", model, {"net": net, "mean": 0.0, "deviation": 1.0})
        trained.append((recipe, tmp_path / name))
    np.savez(tmp_path / "data.npz", **noise_digits(500))
    still, gone = (movement((tmp_path / "data.npz", 10, *run)) for run in trained)
    assert still["kernel_distance"] == pytest.approx(0, abs=1e-6)
    assert still["alignment"] == pytest.approx(still["initial_alignment"])
    assert 0.01 < gone["kernel_distance"] < 1
    assert gone["initial_alignment"] == still["initial_alignment"]


def runs(large, lazy, moves, noise=0.002, number=7, **columns):
    """A table of runs whose large K is `large` points from K = 1, and whose K = 1 `moves` further."""
    draw, rows = np.random.default_rng(1), []
    level, distance = draw.normal(0.8, 0.05, number), draw.normal(0.5, 0.05, number)
    for K, (shift, near) in {1.0: (0, 0), 100.0: (large, moves), np.inf: (lazy, moves)}.items():
        accuracy = level + shift / 100 + draw.normal(0, noise, number)
        read = dict.fromkeys(ACCURACIES, accuracy) | {f"{'network' if K > 100 else 'proxy'}_validation_stopped": 0.1}
        own = {"K": K, "run": range(number), "outcome": "step_limit", "kernel_distance": distance - near}
        rows.append(pd.DataFrame({**own, **read}))
    return compared(pd.concat(rows, ignore_index=True)).assign(**columns)


def verdicts(table):
    return [row["verdict"] for row in judge(CLAIMS, table)]


@pytest.mark.parametrize(
    ("large", "lazy", "moves", "expected"),
    [
        (0.2, -5, 0.1, [YES, YES, YES]),
        (-3, -5, 0.1, [NO, YES, YES]),
        (0.2, 0, 0.1, [YES, NO, YES]),
        (0.2, -5, -0.1, [YES, YES, NO]),
    ],
)
def test_the_claims(large, lazy, moves, expected):
    assert verdicts(runs(large, lazy, moves)) == expected


def test_noisy_few_or_diverged_runs_decide_nothing():
    assert verdicts(runs(0.2, -0.5, 0.1, noise=0.03))[:2] == [UNKNOWN, UNKNOWN]
    assert verdicts(runs(0.2, -5, 0.1, number=4)) == [NONE] * 3
    assert verdicts(runs(0.2, -5, 0.1, outcome="diverged")) == [NONE] * 3


def results(folder, periods, outcome):
    """Two runs of every K."""
    folder.mkdir(parents=True)
    ended = {"outcome": outcome, "steps": 40, "feature_updates": 3, "evaluations": 40, "last_phase_ended": True}
    rows = [
        {"period": K, "run": run, **ended, **dict.fromkeys(ACCURACIES, 0.8 + run / 10), "kernel_distance": 0.25}
        for K in periods
        for run in range(2)
    ]
    pd.DataFrame(rows).to_csv(folder / "runs.csv", index=False)
    curve = [
        {"period": K, "run": run, "step": step, "network_test_accuracy": 0.1, "proxy_test_accuracy": 0.2}
        for K in periods
        for run in range(2)
        for step in (0, 1, 40)
    ]
    pd.DataFrame(curve).to_csv(folder / "curves.csv", index=False)


@pytest.mark.parametrize("outcome", ["step_limit", "diverged"])
def test_from_results_to_tables_the_figure_and_the_section(tmp_path, monkeypatch, outcome):
    monkeypatch.chdir(tmp_path)
    scale = PRESETS["smoke"]
    results(Layout("smoke").results / "vit", scale.vit.periods, outcome)
    found = tables(scale, Layout("smoke"))
    assert found["vit"]["K"].tolist() == [1, 10, np.inf]
    assert found["vit"][["accuracy_mean", "kernel_distance_mean"]].to_numpy() == pytest.approx(
        np.array([[0.85, 0.25]] * 3)
    )
    figure = FIGURES["vit"](found)
    figure.canvas.draw()
    plt.close(figure)
    text = section(scale, found)
    assert "| ∞   |      2 |" in text
