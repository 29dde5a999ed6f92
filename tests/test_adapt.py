"""E-ADAPT: its recipes, what is compared at equal cost, its claims, figure and section."""

import jax
import numpy as np
import pandas as pd
import pytest

import iterlin
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments.adapt.run import cells
from iterlin_lab.experiments.adapt.table import beside_fixed
from iterlin_lab.runs.training import run_many
from iterlin_lab.settings.schedules import SCHEDULES, schedule_of
from tests.problems import noise_digits
from tests.whole import FAMILIES, scopes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = scopes("adapt")
NUMBERS = {
    "linearisation_error": {"bound": 0.3, "every": 4, "at_most": 9},
    "trust_region": {"bound": 0.3, "every": 4, "at_most": 9},
    "kernel_movement": {"bound": 0.3, "every": 4, "at_most": 9, "num_probes": 2},
    "growing": {"first": 2, "factor": 2.0, "most": 9},
    "drawn": {"least": 2, "most": 9},
}


@pytest.mark.parametrize("preset", PRESETS)
def test_cells_differ_in_when_they_re_linearise_alone(preset):
    scale = PRESETS[preset]
    own, found = scale.adapt, cells(scale)
    flows = {name: found[name] for name in [*own.periods, *own.schedules]}
    for name, runs in flows.items():
        for run, recipe in enumerate(runs):
            assert recipe == flows["1"][run]._replace(period=recipe.period, schedule=recipe.schedule)
            assert (recipe.schedule is None) == (name in own.periods)
            assert recipe.seed == own.seed != scale.seed
    damped = found.pop("damped")
    assert all((recipe.damping, recipe.damping_change) == (own.damped.damping, own.damped.change) for recipe in damped)
    assert all((recipe.seed, recipe.net) == (own.seed, flows["1"][0].net) for recipe in damped)
    steps = {name: runs for name, runs in found.items() if name not in flows}
    assert len(steps) == len(own.grid.learning_rates) * (len(own.grid.periods) + 1)
    assert all(recipe.training["fit_loss"] is None for runs in steps.values() for recipe in runs)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_is_made_and_described(name):
    schedule = schedule_of({"name": name, **NUMBERS[name]})
    made = schedule.make(jax.random.key(0))
    assert isinstance(made, iterlin.Schedule)
    assert int(made.remaining(made.init(), jax.numpy.asarray(0))) <= 9
    assert schedule.title in schedule.described()


def test_draws_of_a_schedule_are_those_of_the_run():
    recipe = cells(PRESETS["smoke"])["random"][0]
    recipe = recipe._replace(sizes={"train": 12, "validation": 4, "test": 4})
    recipe = recipe._replace(training=recipe.training | {"num_steps": 60, "records_per_decade": 100})
    data = noise_digits(20)

    def phases(run):
        records = []
        run_many([recipe._replace(run=run)], data, [records.append])
        return [record["step"] for record in records if record["phase_step"] == 1]

    assert len(phases(0)) > 1
    assert phases(0) == phases(0)
    assert phases(0) != phases(1)


def test_the_accuracy_of_fixed_k_is_interpolated_over_the_logarithm_of_the_cost():
    rows = [(1.0, 99, 0.9), (10.0, 9, 0.8), (100.0, 0, 0.6), (np.nan, 30, 0.85), (np.nan, 0, 0.7), (np.nan, 500, 0.7)]
    runs = pd.DataFrame(rows, columns=["K", "feature_updates", "network_validation_stopped"])
    found = beside_fixed(runs.assign(run=0, evaluations=100))
    between = 0.8 + 0.1 * (np.log(31) - np.log(10)) / (np.log(100) - np.log(10))
    expected = [0, 0, 0, 0.85 - between, 0.1, -0.2]
    np.testing.assert_allclose(found["at_equal_feature_updates"], expected, atol=1e-12)
    mean = np.array([0.85, 0.7, 0.7]) - (0.9 + 0.8 + 0.6) / 3
    np.testing.assert_allclose(found["at_equal_evaluations"][3:], mean)  # all K cost the same


def runs(shifts, updates, number=10):
    """Runs of each schedule with its shift in points, and of the reference, with so many updates."""
    draw = np.random.default_rng(1)
    level = draw.normal(0.8, 0.05, number)
    rows = []
    for method, shift in {"gradient": 0, **shifts}.items():
        accuracy = level + shift / 100 + draw.normal(0, 0.004, number)
        counts = updates.get(method, 10) + draw.integers(0, 2, number)
        rows.append(
            pd.DataFrame({"run": range(number), "network_validation_stopped": accuracy, "feature_updates": counts})
            .assign(method=method, reference=method == "gradient", log_updates=np.log1p(counts))
            .assign(at_equal_feature_updates=accuracy - level, at_equal_evaluations=accuracy - level)
        )
    return pd.concat(rows, ignore_index=True)


GOOD = {"error": 2, "ratio": 0, "growing": 2}


@pytest.mark.parametrize(
    ("shifts", "updates", "expected"),
    [
        (GOOD, {"gradient": 40}, [YES, YES, YES, YES]),
        ({name: -shift for name, shift in GOOD.items()}, {"gradient": 40}, [NO, NO, YES, NO]),
        (GOOD | {"ratio": -6}, {"gradient": 40}, [YES, YES, NO, YES]),
        (GOOD, {"gradient": 4, "ratio": 40}, [YES, YES, NO, YES]),
        (dict.fromkeys(GOOD, 0.0), {}, [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]),
    ],
)
def test_claims_hold_where_schedules_are_better_and_fail_where_they_are_worse(shifts, updates, expected):
    assert [row["verdict"] for row in judge(FAMILIES["E-ADAPT"].claims, runs(shifts, updates))] == expected


@pytest.mark.parametrize(("shift", "updates", "expected"), [(0, 9, YES), (-6, 9, NO), (0, 90, NO), (-2, 9, UNKNOWN)])
def test_adaptive_damping_is_judged_by_accuracy_and_updates(shift, updates, expected):
    table = runs({"damped": shift}, {"gradient": 40, "damped": updates})
    (row,) = judge(FAMILIES["E-ADAPT, damping"].claims, table)
    assert row["verdict"] == expected


def test_the_damping_of_a_recipe_adapts():
    short = cells(PRESETS["smoke"])["damped"][0]._replace(sizes={"train": 12, "validation": 4, "test": 4})
    data = noise_digits(20)
    (result,), _ = run_many([short], data, [lambda record: None])
    assert result.records[-1]["damping_factor"] < 1


def grid(fixed, watching, number=8):
    """Runs of K = 1, K = 30 and the schedule at one η, so many of which diverge."""
    rows = []
    for method, K, bad in (("gradient", 1.0, 0), ("gradient", 30.0, fixed), ("watching", np.nan, watching)):
        for run in range(number):
            outcome = "diverged" if run < bad else "step_limit"
            rows.append({"learning_rate": 0.1, "method": method, "K": K, "run": run, "outcome": outcome})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("fixed", "watching", "expected"), [(8, 0, YES), (8, 8, NO), (8, 4, UNKNOWN), (0, 0, NONE)])
def test_stability_is_judged_by_draws_in_which_fixed_k_diverge(fixed, watching, expected):
    (row,) = judge(FAMILIES["E-ADAPT, grid"].claims, grid(fixed, watching))
    assert row["verdict"] == expected
