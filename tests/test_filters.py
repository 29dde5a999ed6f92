"""E-FILTER and B-NTK: what is measured, their tables, their claims, and how they are shown."""

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin import Linearised, functional
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.augmentation.settings import compared
from iterlin_lab.experiments.filters import claims
from iterlin_lab.experiments.filters import figure as figures
from iterlin_lab.experiments.filters import kernel_figure as kernel_figures
from iterlin_lab.experiments.filters import run as filters
from iterlin_lab.experiments.filters import section as report
from iterlin_lab.experiments.filters import table as tables
from iterlin_lab.experiments.filters.settings import Filters
from iterlin_lab.layout import Layout
from iterlin_lab.nets.lenet.module import LeNet
from iterlin_lab.nets.mlp.module import MLP
from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import save
from tests.whole import levelling_off, scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("filters")
FEW = Filters(num_drawn=2, num_columns=4, num_permutations=300, num_examples=5, kernels_per_decade=2)
SCALE = PRESETS["smoke"].model_copy(update={"filters": FEW})
LARGE, STEPS = SCALE.augmentation.periods[-1], SCALE.augmentation.num_steps


@pytest.mark.parametrize("preset", PRESETS)
def test_a_large_period_is_compared_with_gradient_descent(preset):
    one, large = compared(PRESETS[preset].augmentation)
    assert (one, float(large) > 1) == ("1", True)


def test_kernels_are_measured_at_feature_updates_or_evenly_in_log_steps():
    available = [0, 1, 3, 10, 20, 32, 38, 60]
    assert filters.kernel_steps(SCALE, LARGE, available) == [0, 20, 60]
    assert filters.kernel_steps(SCALE, "1", available) == [0, 1, 3, 10, 32, 60]
    assert filters.kernel_steps(SCALE, "inf", available) == [0, 60]
    assert filters.kernel_steps(SCALE, LARGE, [0, 1, 18]) == [0, 18]  # one that diverged


def test_the_similarity_of_filters_and_its_null():
    final = np.eye(6).reshape(2, 3, 1, 6)  # orthogonal filters: those in another order are alike where they stay
    other = np.roll(final, 1, axis=-1)
    changes = {"1": {0: 0 * final, 1: other, 2: 3 * final, 3: final + other}, "9": {0: 0 * final, 5: final}}
    found = pd.DataFrame(filters.similarities(changes, 2000, (0, 1)))
    assert found["step"].tolist() == [1, 2, 3]
    assert found["similarity"].to_numpy() == pytest.approx([0, 1, 0.5**0.5])
    assert found["size"].to_numpy() == pytest.approx([1, 3, 2**0.5])
    assert found["null"].to_numpy() == pytest.approx([1 / 6, 1 / 6, 2**0.5 / 6], abs=0.02)
    assert found["null_low"].iloc[1] == 0
    assert (found["null_largest"] > found["null"]).all()
    changes["9"][5] = changes["9"][5] * np.nan
    assert pd.DataFrame(filters.similarities(changes, 10, (0, 1)))["similarity"].isna().all()


def test_filters_between_snapshots_are_interpolated():
    pattern = np.arange(27.0).reshape(3, 3, 1, 3)
    changes = {period: {step: step * pattern for step in (0, 7, last)} for period, last in (("1", 60), (LARGE, 40))}
    drawn = pd.DataFrame(filters.drawn_filters(SCALE, changes))
    assert sorted(drawn["step"].unique()) == [15, 30, 45, 60]
    assert sorted(drawn["filter"].unique()) == [0, 1]
    last = drawn[(drawn["cell"] == "1") & (drawn["row"] == 2) & (drawn["column"] == 1) & (drawn["filter"] == 1)]
    assert last["change"].to_numpy() == pytest.approx(last["step"].to_numpy() * pattern[2, 1, 0, 1])
    assert drawn.loc[(drawn["cell"] == LARGE) & (drawn["step"] > 40), "change"].isna().all()


def test_a_run_is_measured_from_its_networks(tmp_path):
    labels = np.arange(460) % 10
    images = np.random.default_rng(0).normal(size=(460, 8, 8, 1))
    np.savez(tmp_path / "data.npz", images=images, labels=labels, official_test=np.zeros(460, bool))
    net = {"name": "lenet", "input_shape": (8, 8, 1), "num_classes": 10, "kernel": 3, "padding": "SAME"}
    net |= {"channels": [50, 50], "widths": [120, 84], "initialisation": "he_normal"}
    model, description = build(**net, key=jax.random.key(0)), {"net": net, "mean": 0.0, "deviation": 1.0}
    for period in ("1", LARGE):
        (folder := tmp_path / period / "snapshots" / "0").mkdir(parents=True)
        for step in (0, 20, 60):
            moved = jax.tree.map(lambda leaf, by=step: leaf + by / 100 if jnp.ndim(leaf) else leaf, model)
            save(folder / f"{step}.eqx", moved, description)
    found = {
        name: pd.DataFrame(rows) for name, rows in filters.measure((SCALE, tmp_path / "data.npz", tmp_path, 0)).items()
    }
    assert found["similarity"]["similarity"].to_numpy() == pytest.approx([1, 1])
    assert found["similarity"]["size"].to_numpy() == pytest.approx([1 / 3, 1])
    assert found["filters"].loc[found["filters"]["step"] == 30, "change"].to_numpy() == pytest.approx(0.3)
    first, *_, last = found["kernels"][found["kernels"]["cell"] == "1"].to_dict("records")
    assert [first[name] for name in ("distance_ntk", "cka_layer1", "cka_layer2")] == pytest.approx([0, 1, 1])
    assert 0 < last["distance_ntk"] < 1
    assert 0 < last["cka_layer2"] < 1


@pytest.mark.parametrize(
    "model",
    [
        LeNet((8, 8, 1), 4, channels=(2, 3), kernel=3, padding="SAME", widths=(5,), key=jax.random.key(0)),
        MLP((8, 8, 1), 4, width=5, depth=3, key=jax.random.key(0)),
    ],
)
def test_the_traced_ntk_is_that_of_the_library_and_the_sum_of_its_parts(model):
    x = jax.random.normal(jax.random.key(1), (3, 8, 8, 1))
    params, fn = functional(model)
    rows = np.asarray(eqx.filter_jit(Linearised(fn, params).jacobian)(x)).reshape(3, -1)
    parts = {name: np.asarray(part) for name, part in filters.traced_ntk(model, x).items()}
    assert parts["ntk"] == pytest.approx(rows @ rows.T)
    assert parts["ntk"] == pytest.approx(sum(parts[name] for name in filters.NTK_PARTS))


def test_what_is_read_of_an_mlp_is_its_first_layers():
    model, x = MLP((4, 3, 1), 2, width=6, depth=3, key=jax.random.key(0)), jnp.arange(12.0).reshape(4, 3, 1)
    first, second = model.activations(x)
    bias = jnp.asarray(model.layers.layers[0].bias)
    assert first == pytest.approx(np.maximum(jnp.tensordot(x, model.filters, 3) + bias, 0))
    assert model.layers.layers[3](jax.nn.relu(model.layers.layers[2](second))) == pytest.approx(model(x))


def write(layout, number=6, fraction=0.2, similarity=0.8, null=0.3, further=0.2, diverged=(), late=0.0):
    """What the stages write: `similarity` peaks at a `fraction`, and the kernel of K = 1 moves `further`."""
    draw = np.random.default_rng(0)
    similar, kernels, drawn = [], [], []
    for run in range(number):
        at_peak = round(STEPS * (fraction + 0.01 * draw.normal()))
        for step, value, size in ((1, 0.1, 0.1), (at_peak, similarity, 0.5), (STEPS, similarity - 0.2, 1.0)):
            row = {"run": run, "step": step, "similarity": value + 0.01 * draw.normal(), "size": size}
            similar.append(row | {"null": 0, "null_low": -null, "null_high": null, "null_largest": null})
        for cell in ("1", LARGE):
            for step in (0, STEPS):
                distance = (0.5 + further * (cell == "1") + 0.01 * draw.normal()) * step / STEPS
                row = {"cell": cell, "run": run, "step": step, "alignment": 0.3}
                row |= {f"distance_{part}": distance for part in ("ntk", *filters.NTK_PARTS)}
                kernels.append(row | {"cka_layer1": 1 - distance, "cka_layer2": 1 - distance})
    for cell in ("1", LARGE):
        drawn += [
            {"cell": cell, "step": step, "row": i, "column": j, "channel": 0, "filter": k, "change": draw.normal()}
            for step in (30, 60)
            for i, j, k in np.ndindex(3, 3, 2)
        ]
        folder = layout.results / "augmentation" / cell
        folder.mkdir(parents=True)
        ends = ["diverged" if (cell, run) in diverged else "step_limit" for run in range(number)]
        pd.DataFrame({"run": range(number), "outcome": ends}).to_csv(folder / "runs.csv", index=False)
        levelling_off(folder, int(cell), range(number), late)
    (layout.results / "filters").mkdir()
    for name, rows in {"similarity": similar, "kernels": kernels, "filters": drawn}.items():
        pd.DataFrame(rows).to_csv(layout.results / "filters" / f"{name}.csv", index=False)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The tables of such results."""
    monkeypatch.chdir(tmp_path)

    def make(**settings):
        write(Layout("smoke"), **settings)
        return tables.tables(SCALE, Layout("smoke"))

    return make


def test_where_changes_are_most_similar_and_closest():
    rows = pd.DataFrame({"fraction": [0.1, 0.5, 1.0], "similarity": [0.9, 0.8, 0.5], "size": [0.1, 1.0, 2.0]})
    rows = rows.assign(K=9.0, run=0, null_largest=0.3)
    found = tables.most_similar(tables.with_distances(rows)).iloc[0]
    expected = {"fraction": 0.1, "similarity": 0.9, "size": 0.1, "similarity_final": 0.5, "size_final": 2.0}
    expected |= {"closest_fraction": 0.5, "closest_distance": 0.4**0.5}
    assert found[list(expected)].to_dict() == pytest.approx(expected)
    assert tables.most_similar(tables.with_distances(rows.assign(similarity=np.nan))).empty


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (YES, YES, YES)),
        ({"fraction": 0.5, "null": 0.95, "further": -0.2}, (NO, NO, NO)),
        ({"fraction": 0.12, "number": 4}, (NONE,) * 3),
        ({"diverged": {(LARGE, 2)}}, (NONE,) * 3),
        ({"late": 0.1}, (NONE, YES, YES)),
    ],
)
def test_the_claims(made, settings, expected):
    runs = made(**settings)["filters_runs"]
    verdicts = [row["verdict"] for group in (claims.CLAIMS, claims.NTK_CLAIMS) for row in judge(group, runs)]
    assert tuple(verdicts) == expected


@pytest.mark.parametrize("diverged", [set(), {(LARGE, 2)}])
def test_from_results_to_figures_and_the_section(made, diverged):
    shown = made(diverged=diverged)
    for draw in (*figures.FIGURES.values(), *kernel_figures.FIGURES.values()):
        figure = draw(shown)
        figure.canvas.draw()
        plt.close(figure)
    text = report.section(SCALE, shown)
    assert ("1 of the 12 runs diverged" in text) == bool(diverged)
    assert "| 1 |" in " ".join(text.split())
    summary = shown["filters"].set_index("quantity")["mean"]
    assert summary[["fraction", "similarity_final", "null_largest"]].to_numpy() == pytest.approx(
        [0.2, 0.6, 0.3], abs=0.02
    )
    ends = shown["kernels"].set_index("K")["distance_ntk_mean"]
    assert (ends[1], ends[float(LARGE)]) == pytest.approx((0.7, 0.5), abs=0.02)


@pytest.mark.parametrize("channels", [1, 3])
def test_filters_are_drawn_on_one_scale(made, channels):
    drawn = made()["filters_drawn"]
    table = pd.concat([drawn.assign(channel=channel) for channel in range(channels)])
    figure = figures.grid({"filters_drawn": table})
    meshes = [axes.collections[0] for axes in figure.axes[:8]]
    if channels == 1:
        assert len({mesh.norm.vmax for mesh in meshes}) == 1
        limit = meshes[0].norm.vmax
        image = drawn[(drawn["K"] == float(LARGE)) & (drawn["step"] == 60) & (drawn["filter"] == 1)]
        assert np.asarray(meshes[-1].get_array()).ravel() == pytest.approx(
            image.sort_values(["row", "column"])["change"].to_numpy()
        )
        assert drawn["change"].abs().max() <= limit
    plt.close(figure)
