"""E-MNIST, E-AUG and E-BATCH: their recipes, how far their curves are apart, their claims, and how they are shown."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.config import load
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.experiments.mnist import table as tables_mnist
from iterlin_lab.experiments.mnist.run import cells
from iterlin_lab.experiments.mnist.section import answer
from iterlin_lab.layout import Layout
from iterlin_lab.tables import ACCURACIES
from iterlin_lab.tables.gaps import largest_gaps
from iterlin_lab.tables.phases import late_gains
from tests.clone import ROOT
from tests.whole import FAMILIES, FIGURES, TRAINED, recipes, tables_of, text_of

YES, NO, UNKNOWN, NONE = VERDICTS
CURVES = [f"{model}_{split}_accuracy" for model in ("network", "proxy") for split in ("test", "train")]
PRESETS = load(ROOT / "params.yaml").presets


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["mnist", "augmentation"])
def test_the_cells_of_mnist_and_augmentation_differ_in_the_period_alone(preset, name):
    scale = PRESETS[preset]
    cells, settings = recipes(name, scale), getattr(scale, name)
    (first, *_), *others = cells.values()
    assert all(other[0]._replace(period=first.period) == first for other in others)
    assert first.sizes == (settings.data if name == "mnist" else scale.data).sizes
    assert [runs[0].period for runs in cells.values()] == [float(period) for period in settings.periods]
    assert first.snapshots == (name == "augmentation") == (first.augmentation is not None)


@pytest.mark.parametrize("preset", PRESETS)
def test_both_kinds_of_batches_train_for_the_same_times(preset):
    scale = PRESETS[preset]
    cells = recipes("batches", scale)
    for period in scale.batches.periods:
        (full, *_), (mini, *_) = cells[f"full-{period}"], cells[f"mini-{period}"]
        assert full.training["batch_size"] is None
        assert mini.training["batch_size"] == scale.batches.batch_size
        for name in ("num_steps", "first_record"):
            times = (run.learning_rate * run.training[name] for run in (full, mini))
            assert len({round(time, 12) for time in times}) == 1
        periods = {"1": (1, 1), "inf": (float("inf"),) * 2}
        K = int(float(period)) if period not in periods else 0
        assert (full.period, mini.period) == periods.get(period, (K, K * scale.batches.ratio))
        assert full.sizes == mini.sizes


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", TRAINED)
def test_all_cells_of_an_experiment_have_as_many_runs_with_their_own_numbers(preset, name):
    cells = recipes(name, PRESETS[preset])
    numbers = {tuple(recipe.run for recipe in own) for own in cells.values()}
    assert numbers == {tuple(range(getattr(PRESETS[preset], name).num_seeds))}
    assert len({str(own[0]) for own in cells.values()}) == len(cells)


def rising(run, times, shift=0.0):
    """Accuracies that rise linearly in log time, and from the middle on are higher by `shift`."""
    level = np.log10(times) / 4
    return pd.DataFrame({"run": run, "time": times, "network_test_accuracy": level + shift * (level >= 0.5)})


def test_the_largest_gap_is_between_equal_times():
    reference = pd.concat([rising(run, np.array([1, 10, 100, 1000, 10_000])) for run in (0, 1)])
    curves = pd.concat([rising(0, np.array([2, 30, 400, 5000])), rising(1, np.array([3, 300, 9000]), shift=-0.07)])
    gaps = largest_gaps(curves, reference)
    assert gaps.to_dict() == pytest.approx({0: 0.0, 1: 0.07}, abs=1e-12)
    # What comes after the last record of the reference is not compared, nor is step 0 or a run that it lacks.
    later = pd.DataFrame({"run": [0, 0, 2], "time": [0.0, 20_000, 10], "network_test_accuracy": [9.0, 9.0, 9.0]})
    assert largest_gaps(pd.concat([curves, later]), reference).to_dict() == pytest.approx(gaps.to_dict())


def phase(steps, accuracies, run=0, ends=100):
    phase_steps = [step if step <= ends else step - ends for step in steps]
    columns = {"run": run, "step": steps, "phase_step": phase_steps, "proxy_train_accuracy": accuracies}
    return pd.DataFrame(columns).assign(feature_updates=[int(step > ends) for step in steps])


def test_a_late_gain_is_that_of_the_second_half_of_the_first_phase():
    late = pd.concat([phase([0, 50, 100, 150], [0.1, 0.8, 0.9, 0.2]), phase([0, 10, 60, 100, 110], [0, 1, 1, 1, 0], 1)])
    assert late_gains(late, "proxy_train_accuracy").to_dict() == pytest.approx({0: 0.125, 1: 0})
    for cut_off in (phase([0, 50, 100], [0.1, 0.8, 0.9]), phase([0, 50, 150], [0.1, 0.8, 0.9])):
        assert late_gains(cut_off, "proxy_train_accuracy").isna().all()


def test_the_accuracy_after_two_updates_is_the_last_before_the_third():
    columns = {"step": [0, 10, 20, 25, 30, 31], "feature_updates": [0, 0, 1, 2, 2, 3]}
    curve = pd.DataFrame(columns | {"run": 0, "proxy_train_accuracy": [0, 0.1, 0.2, 0.3, 0.4, 0.5]})
    assert tables_mnist.after_two_updates(curve).tolist() == [0.4]
    assert tables_mnist.after_two_updates(curve[curve["step"] < 25]).isna().all()


def write(folder, cell, diverged, first=1):
    """Two runs of phases of 10 steps."""
    steps = [0, *(first * step for step in (1, 5, 10, 20, 30))]
    rows = [
        {
            "run": run,
            "step": step,
            "phase_step": step % 10 or 10 * (step > 0),
            "feature_updates": max(0, step - 1) // 10,
        }
        | {"proxy_train_loss": 1 - step / first / 30}
        | dict.fromkeys(CURVES, 0.1 if diverged else min(1, 0.1 + step / first / 30))
        for run in range(2)
        for step in steps
    ]
    ended = {"outcome": "diverged" if diverged else "step_limit", "steps": 30, "feature_updates": 2, "evaluations": 30}
    ended |= {"last_phase_ended": True, "network_train_accuracy": 1.0, "network_train_loss": 0.01}
    ended |= {name: np.nan if diverged and name.endswith("final") else 0.9 for name in ACCURACIES}
    (folder / cell).mkdir(parents=True)
    pd.DataFrame(rows).to_csv(folder / cell / "curves.csv")
    pd.DataFrame([{"run": run, **ended} for run in range(2)]).to_csv(folder / cell / "runs.csv")


@pytest.mark.parametrize("diverged", [False, True])
def test_from_results_to_figures_and_sections(tmp_path, monkeypatch, diverged):
    monkeypatch.chdir(tmp_path)
    scale, layout = PRESETS["smoke"], Layout("smoke")
    for period in scale.mnist.periods:
        write(layout.results / "mnist", period, diverged and period != "1")
    for cell in recipes("batches", scale):
        write(layout.results / "batches", cell, diverged, scale.batches.ratio if cell.startswith("mini") else 1)
    for period in scale.augmentation.periods:
        write(layout.results / "augmentation", period, diverged)
    tables = tables_of(scale, "mnist", "batches", "augmentation")
    for name in ("mnist", "batches", "augmentation"):
        figure = FIGURES[name](tables)
        figure.canvas.draw()
        plt.close(figure)
    gap = tables["batches_runs"].query("method == 'mini' and K == 10")["largest_gap"]
    assert gap.tolist() == pytest.approx([0, 0])
    text = text_of(scale, tables, "mnist", "batches")
    assert "`digits` **stand in for MNIST**" in text
    rows = text_of(scale, tables, "augmentation").splitlines()
    assert ("0.0 ± 0.0" in next(row for row in rows if row.startswith("| 20 "))) != diverged
    row = next(line for line in text.splitlines() if line.startswith("| 10 "))
    assert row.split("|")[6].strip() == ("–" if diverged else "90.0 ± 0.0")


def table(shifts, noise=0.0005, number=6, **columns):
    """A table of runs in which each K differs from the first by its shift, in points."""
    draw = np.random.default_rng(2)
    level = draw.normal(0.8, 0.05, number)
    rows = []
    for K, shift in shifts.items():
        end = level + shift / 100 + draw.normal(0, noise, number)
        rows.append(pd.DataFrame({"run": range(number), "proxy_final": end, "network_final": end}).assign(K=K))
    return pd.concat(rows, ignore_index=True).assign(outcome="step_limit", **columns)


def verdicts(experiment, runs):
    return [row["verdict"] for row in judge(FAMILIES[experiment].claims, runs)]


MNIST = {"largest_gap": 0.01, "late_gain": 0.02, "after_two": 1.0}


@pytest.mark.parametrize(
    ("shifts", "noise", "columns", "expected"),
    [
        ((0.1, -0.1, -9), 0.0005, {}, [YES] * 5),
        ((0.1, -3, 1), 0.0005, {"largest_gap": 0.3, "late_gain": 0.5, "after_two": 0.5}, [NO] * 5),
        ((0.1, -0.1, -9), 0.2, {}, [YES, UNKNOWN, YES, YES, UNKNOWN]),
        (
            (0.1, -0.1, -9),
            0.0005,
            {"after_two": np.nan, "late_gain": np.nan},
            [YES, YES, NONE, NONE, YES],
        ),
        ((0.1, -0.1, -9), 0.0005, {"outcome": "diverged"}, [NONE] * 5),
    ],
)
def test_the_claims_of_mnist(shifts, noise, columns, expected):
    by_period = dict(zip((1, 10, 1e3, np.inf), (0, *shifts), strict=True))
    runs = table(by_period, noise, **{**MNIST, **{name: v for name, v in columns.items() if name != "outcome"}})
    assert verdicts("E-MNIST", runs.assign(outcome=columns.get("outcome", "step_limit"))) == expected


def test_the_runs_of_mnist_have_an_initialisation_of_their_own():
    scale = EXPERIMENTS["mnist"].of(PRESETS["smoke"])
    own = scale.mnist.model_copy(update={"initialisation": "pytorch"})
    found = cells(scale.model_copy(update={"mnist": own}))
    for K, alike in cells(scale).items():
        assert found[K] == [one._replace(net=one.net | {"initialisation": "pytorch"}) for one in alike]


def test_the_answer_of_mnist_names_its_largest_finite_K():
    runs = table({1: 0, 10: 0.1, 1e3: -3, np.inf: -9}).assign(**MNIST)
    claims = {row["id"]: row for row in judge(FAMILIES["E-MNIST"].claims, runs)}
    scale, means = EXPERIMENTS["mnist"].of(PRESETS["smoke"]), runs.groupby("K").mean(numeric_only=True).reset_index()
    finite, few, lazy = answer(scale, {"mnist": means}, claims).sentences
    assert finite.startswith(
        "Not every K up to 1000 ends within 0.4 points of K = 1 (largest difference at K = 1000 −3."
    )
    assert few.startswith(
        "Two feature updates, with K = 1000, are enough for nearly all training images (training accu"
    )
    assert lazy.startswith("A model without any feature update (K = ∞) ends further below K = 1 (difference −9.")


@pytest.mark.parametrize(
    ("full", "mini", "gap", "outcome", "expected"),
    [
        (0.1, -0.2, 0.02, "step_limit", [YES, YES, YES]),
        (-4, -0.2, 0.2, "step_limit", [NO, YES, NO]),
        (0.1, 5, 0.05, "step_limit", [YES, NO, UNKNOWN]),
        (0.1, -0.2, 0.02, "diverged", [NONE] * 3),
    ],
)
def test_the_claims_of_batches(full, mini, gap, outcome, expected):
    ways = {"full": full, "mini": mini}
    runs = pd.concat([table({1: 0, 10: shift}, method=way) for way, shift in ways.items()], ignore_index=True)
    spread = np.random.default_rng(3).normal(0, 0.002, len(runs))
    runs = runs.assign(
        largest_gap=gap + spread - spread.mean(), outcome=outcome, network_train_loss=0.01, fit_loss=0.02
    )
    assert verdicts("E-BATCH", runs) == expected
    runs.loc[runs["method"] == "full", "network_train_loss"] = 0.03
    assert verdicts("E-BATCH", runs) == [NONE, *expected[1:]]
    reason = judge(FAMILIES["E-BATCH"].claims, runs)[0]["evidence"]
    assert ("runs have not converged: raise batches.num_steps" in reason) == (outcome != "diverged")


@pytest.mark.parametrize(
    ("shift", "outcome", "expected"),
    [(-0.2, "step_limit", YES), (-3, "step_limit", NO), (-1, "step_limit", UNKNOWN), (0, "diverged", NONE)],
)
def test_the_claim_of_augmentation(shift, outcome, expected):
    runs = table({1: 0, 5e6: shift}).assign(outcome=outcome, late_gain=0.01)
    assert verdicts("E-AUG", runs) == [expected]
    (row,) = judge(FAMILIES["E-AUG"].claims, runs.assign(late_gain=0.3))
    assert row["verdict"] == NONE
    assert outcome == "diverged" or "still brings 30% of the decrease of the proxy's training loss" in row["evidence"]
