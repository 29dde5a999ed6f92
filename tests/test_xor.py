"""E-XOR: its data, its alignment, its dials, and what is made of its tables."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from iterlin import ClosedForm, Every, FirstOrder, Ridge, functional
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.data.xor import CENTRES, draw
from iterlin_lab.experiments.xor.claims import RANDOM
from iterlin_lab.experiments.xor.figure import FIGURES
from iterlin_lab.experiments.xor.run import alignments, features, method, start, train_group
from iterlin_lab.experiments.xor.section import section
from iterlin_lab.experiments.xor.table import numbered, summarise
from iterlin_lab.nets.shared.build import build
from tests.whole import FAMILIES, scopes

YES, NO, UNKNOWN, NONE = VERDICTS
SMOKE = scopes("xor")["smoke"]
SETTINGS = SMOKE.xor.model_copy(update={"num_steps": 5, "num_phases": 1, "num_updates": 5, "width": 8})
SCALE = SMOKE.model_copy(update={"xor": SETTINGS})


def test_the_data_are_noisy_corners_and_the_targets_products():
    x, y = draw(40_000, 0.1, jax.random.key(0))
    np.testing.assert_array_equal(y[:, 0], x[:, 0] * x[:, 1])
    corners, counts = np.unique(np.sign(x), axis=0, return_counts=True)
    assert len(corners) == 4
    np.testing.assert_allclose(counts / len(x), 0.25, atol=0.01)
    np.testing.assert_allclose(np.mean(x, axis=0), 0, atol=0.02)
    np.testing.assert_allclose(np.cov(x.T), 1.1 * np.eye(2), atol=0.02)  # that of z and that of ε


def test_the_noise_has_the_variance_that_is_given():
    same_corners = [draw(20_000, variance, jax.random.key(1))[0] for variance in (1e-12, 0.1)]
    noise = np.asarray(same_corners[1] - same_corners[0])
    np.testing.assert_allclose(np.cov(noise.T), 0.1 * np.eye(2), atol=0.005)


def test_a_cluster_centre_is_aligned_and_an_axis_is_not_and_the_length_does_not_count():
    np.testing.assert_allclose(alignments(np.array(CENTRES) * [[3.0], [1e-3], [1.0], [7.0]]), 1)
    np.testing.assert_allclose(alignments(np.array([[2.0, 0.0], [0.0, -1.0]])), np.sqrt(0.5))


def test_a_quarter_turn_leaves_the_alignment():
    rows = np.random.default_rng(0).standard_normal((50, 2))
    np.testing.assert_allclose(alignments(rows @ [[0.0, 1.0], [-1.0, 0.0]]), alignments(rows))


def test_random_directions_have_the_alignment_that_the_claims_compare_with():
    found = alignments(np.random.default_rng(0).standard_normal((200_000, 2)))
    assert found.mean() == pytest.approx(RANDOM, abs=5 * found.std() / np.sqrt(len(found)))
    assert pytest.approx(0.900, abs=5e-4) == RANDOM


def test_a_row_of_zeros_has_no_direction():
    assert np.isnan(alignments(np.zeros((1, 2)))).all()


def test_the_network_is_that_of_the_paper():
    model, splits = start(SCALE, 0)
    first, last = model.layers.layers
    x, _ = splits["train"]
    assert first.bias is not None
    assert last.bias is None
    by_hand = jnp.maximum(x @ first.weight.T + first.bias[None], 0) @ last.weight.T
    params, fn = functional(model)
    np.testing.assert_allclose(fn(params, x), by_hand, atol=1e-12)
    assert not first.bias.any()
    assert len(features(model)) == SETTINGS.width


def test_initial_scale_multiplies_he_normal_weights():
    model, _ = start(SCALE.model_copy(update={"xor": SETTINGS.model_copy(update={"width": 4000})}), 0)
    first, last = model.layers.layers
    assert float(first.weight.std()) == pytest.approx(SETTINGS.initial_scale, rel=0.05)
    assert float(last.weight.std()) == pytest.approx(SETTINGS.initial_scale * np.sqrt(2 / 4000), rel=0.05)


def test_without_an_output_bias_the_rest_is_initialised_as_with_one():
    with_bias, without = (
        build("mlp", (2,), 1, initialisation="he_normal", width=5, depth=1, output_bias=bias, key=jax.random.key(0))
        for bias in (True, False)
    )
    for one, other in zip(with_bias.layers.layers, without.layers.layers, strict=True):
        np.testing.assert_array_equal(one.weight, other.weight)


def test_cells_are_solved_as_params_yaml_says():
    solver, schedule, num_steps, damping = method(SMOKE, ("K", "10"))
    assert (type(solver), num_steps, damping) == (FirstOrder, 3000, 0)
    assert schedule.remaining(None, jnp.asarray(0)) == 10
    solver, _, num_steps, _ = method(SMOKE, ("K", "1e3"))
    assert (type(solver), num_steps) == (ClosedForm, 5000)
    assert method(SMOKE, ("K", "inf"))[2] == 5000
    solver, schedule, num_steps, damping = method(SMOKE, ("λ", "0.01"))
    assert (type(solver), num_steps, damping) == (Ridge, 100, 0.01)
    assert isinstance(schedule, Every)
    assert schedule.remaining(None, jnp.asarray(0)) == 1


def test_runs_begin_alike_in_all_cells_and_differ_from_each_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {cell: train_group((SCALE, cell, [0, 1])) for cell in (("K", "1"), ("λ", "0.1"))}
    initial = {cell: [row["alignment_initial"] for row, _ in group] for cell, group in rows.items()}
    assert initial["K", "1"] == initial["λ", "0.1"]
    assert len(set(initial["K", "1"])) == 2
    neurons = pd.DataFrame(neuron for group in rows.values() for _, found in group for neuron in found)
    assert neurons.groupby(["cell", "run"]).size().to_dict() == dict.fromkeys(
        [(cell, run) for cell in ("0.1", "1", "initial") for run in (0, 1)], SETTINGS.width
    )
    first = rows["K", "1"][0][0]
    assert neurons.query("cell == '1' and run == 0")["alignment"].mean() == pytest.approx(first["alignment"])
    assert first["proxy_test_rmse"] == pytest.approx(first["network_test_rmse"], rel=1e-3)  # one step apart


CELLS = {"K": ("1", "10", "1e3", "inf"), "λ": ("0.1", "0.01", "1e-05")}


def runs(slopes=(("K", -0.02), ("λ", -0.02)), accuracy=0.0, level=0.98, noise=0.001, number=10):
    """Runs whose alignment changes by a slope from cell to cell, and whose accuracy by `accuracy`, in points."""
    draw, rows = np.random.default_rng(1), []
    for dial, cells in CELLS.items():
        for place, cell in enumerate(cells):
            aligned = level + dict(slopes)[dial] * place + draw.normal(0, noise, number)
            accurate = 0.99 + accuracy * place / 100 + draw.normal(0, noise, number)
            found = {"dial": dial, "cell": cell, "run": range(number), "outcome": "fitted", "alignment": aligned}
            others = dict.fromkeys(("train_rmse", "network_test_rmse", "distance", "steps", "feature_updates"), 3.0)
            found |= {"network_test_accuracy": accurate, "proxy_test_accuracy": accurate} | others
            rows.append(pd.DataFrame(found | {"alignment_initial": 0.9, "no_direction": 0}))
    table = numbered(pd.concat(rows, ignore_index=True))
    table.loc[np.isinf(table["K"]), "outcome"] = "step_limit"
    return table


def verdicts(table):
    return {row["id"]: row["verdict"] for row in judge(FAMILIES["E-XOR"].claims, table)}


def test_each_claim_is_supported_where_it_holds():
    assert verdicts(runs()) == {f"E-XOR-{number}": YES for number in range(1, 5)}


@pytest.mark.parametrize(
    ("claim", "changes"),
    [
        ("E-XOR-1", {"slopes": {"K": 0.02, "λ": -0.02}}),
        ("E-XOR-2", {"slopes": {"K": -0.02, "λ": 0.02}}),
        ("E-XOR-3", {"level": 0.89}),
        ("E-XOR-4", {"accuracy": -5}),
    ],
)
def test_a_claim_is_contradicted_where_its_opposite_holds(claim, changes):
    assert verdicts(runs(**changes))[claim] == NO


def test_too_few_or_too_noisy_runs_give_no_verdict():
    assert set(verdicts(runs(number=3)).values()) == {NONE}
    assert set(verdicts(runs(slopes=(("K", 0), ("λ", 0)), level=0.9, noise=0.2)).values()) == {UNKNOWN}


@pytest.mark.parametrize(
    ("dial", "value", "name", "unknown"),
    [("K", 1000, "K = 1000", {"1", "3", "4"}), ("damping", 1e-5, "λ = 10⁻⁵", {"2"})],
)
@pytest.mark.parametrize("outcome", ["diverged", "step_limit"])
def test_runs_that_did_not_fit_leave_the_claims_of_their_dial_open(dial, value, name, unknown, outcome):
    table = runs()
    table.loc[(table[dial] == value) & (table["run"] < 3), "outcome"] = outcome
    rows = judge(FAMILIES["E-XOR"].claims, table)
    assert {row["id"][-1] for row in rows if row["verdict"] == NONE} == unknown
    said = f"(diverged: 3 of 10 at {name})"
    assert all(row["evidence"].endswith(said) == (outcome == "diverged") for row in rows if row["id"][-1] in unknown)


def test_damping_is_also_given_as_the_paper_has_it():
    found = summarise(runs(), 500)
    assert found["lambda_of_T"].dropna().tolist() == pytest.approx([100, 10, 0.01])
    assert found["lambda_of_T"].isna().equals(found["K"].notna())


def neurons():
    draw = np.random.default_rng(0)
    cells = [("K", cell) for cell in (*CELLS["K"], "3e3", "1e4")] + [("λ", cell) for cell in CELLS["λ"]]
    rows = [
        {"dial": dial, "cell": cell, "run": 0, "w1_x": x, "w1_y": y, "w2": output, "alignment": aligned}
        for dial, cell in [*cells, ("", "initial")]
        for x, y, output, aligned in [*draw.uniform(0.7, 1, (20, 4)), (0, 0, 0, np.nan)]
    ]
    return numbered(pd.DataFrame(rows))


@pytest.mark.parametrize("diverged", [False, True])
def test_figures_and_report_are_made_of_tables_alone_also_where_runs_diverged(diverged):
    table = runs()
    if diverged:
        lost = (table["K"] == 1e3) | (table["damping"] == 1e-5)
        columns = ["alignment", "network_test_accuracy", "proxy_test_accuracy", "network_test_rmse"]
        table.loc[lost, columns] = np.nan
        table.loc[lost, "outcome"] = "diverged"
    tables = {"xor": summarise(table, 60), "xor_features": neurons()}
    for draw_figure in FIGURES.values():
        figure = draw_figure(tables)
        assert isinstance(figure, Figure)
        figure.draw_without_rendering()
    text = section(SMOKE, tables)
    assert [f"figures/{name}.svg" in text for name in FIGURES] == [True] * 3
    assert f"| {'–' if diverged else '0.940 ± 0.001'} |" in text.replace("  ", "")
