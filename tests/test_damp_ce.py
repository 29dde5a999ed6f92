"""E-DAMPCE: its recipes and its claims."""

import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.config import load
from tests.clone import ROOT
from tests.whole import FAMILIES, recipes

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = load(ROOT / "params.yaml").presets


@pytest.mark.parametrize("preset", PRESETS)
def test_the_cells_differ_in_the_damping_alone(preset):
    scale = PRESETS[preset]
    own, cells = scale.damp_ce, {name: runs[1] for name, runs in recipes("damp_ce", scale).items()}
    first = cells["0"]
    assert all(recipe._replace(damping=0.0) == first for recipe in cells.values())
    assert (first.tolerance, first.period) == (own.solver.tolerance, None)
    assert (first.learning_rate is None) == (first.solver["name"] == "truncated") == ("tolerance" in first.solver)
    found = {name: recipe.damping for name, recipe in cells.items()}
    assert found.pop("1e-1-then-0") == (0.1, 0.0, own.switch.after)
    assert found.pop("0-then-1e-1") == (0.0, 0.1, own.switch.after)
    assert found == {label: float(label) for label in own.dampings}


RISING = {0.0: 0, 1e-3: 1, 0.1: 2, 1.0: 3, 10.0: 4}
FALLING = {1e5: 0, 1e6: -1, 1e7: -2, 1e8: -3}
FLAT, SIDES = dict.fromkeys(RISING, 0), {"early": 1, "late": -1}


def runs(dampings=RISING, periods=FALLING, sides=SIDES, noise=0.002, number=10):
    """A table of runs in which each λ and K, and early and late damping, has its shift, in points."""
    draw = np.random.default_rng(1)
    level = draw.normal(0.7, 0.05, number)
    cells = [({"method": "gradient", "K": K}, shift) for K, shift in periods.items()]
    cells += [({"method": "always", "damping": damping}, shift) for damping, shift in dampings.items()]
    cells += [({"method": side, "damping": 0.1, "after": 2}, shift) for side, shift in sides.items()]
    rows = [
        pd.DataFrame(
            {"run": range(number), "network_final": level + shift / 100 + draw.normal(0, noise, number)}
        ).assign(**cell, outcome="fitted", phases=4)
        for cell, shift in cells
    ]
    return pd.concat(rows, ignore_index=True)


def verdicts(table):
    return [row["verdict"] for row in judge(FAMILIES["E-DAMPCE"].claims, table)]


def against(shifts):
    return {name: -shift for name, shift in shifts.items()}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [YES, YES, YES]),
        ({"dampings": against(RISING)}, [NO, YES, NO]),
        ({"sides": against(SIDES)}, [YES, NO, YES]),
        ({"periods": against(FALLING)}, [YES, YES, NO]),
        ({"dampings": FLAT}, [UNKNOWN, YES, UNKNOWN]),
        ({"periods": dict.fromkeys(FALLING, 0)}, [YES, YES, UNKNOWN]),
        ({"noise": 0.5}, [UNKNOWN, UNKNOWN, UNKNOWN]),
        ({"number": 4}, [NONE, NONE, NONE]),
    ],
)
def test_the_claims(changes, expected):
    assert verdicts(runs(**changes)) == expected


def test_one_of_two_trends_is_not_enough_and_either_opposite_counts_twice():
    """p of both is the larger of two, and p of the opposite twice the smaller one."""
    table = runs(noise=0.02)
    rows = judge(FAMILIES["E-DAMPCE"].claims, table)
    alone = judge(FAMILIES["E-DAMPCE"].claims, runs(periods=against(FALLING), noise=0.02))[2]
    assert rows[2]["p_for_alone"] >= rows[0]["p_for_alone"]
    assert alone["p_against_alone"] <= 0.05 < alone["p_for_alone"]


def test_a_value_of_which_a_run_did_not_fit_is_left_out_of_its_trend():
    table = runs(RISING | {10.0: -50}, FALLING | {1e8: 50})
    table.loc[((table["damping"] == 10) | (table["K"] == 1e8)) & (table["run"] == 0), "outcome"] = "step_limit"
    one, _, both = judge(FAMILIES["E-DAMPCE"].claims, table)
    assert one["verdict"] == both["verdict"] == YES
    assert one["evidence"].endswith("Left out, since some runs did not fit in time: λ = 10")
    assert both["evidence"].startswith(one["evidence"])
    assert both["evidence"].endswith("Left out, since some runs did not fit in time: K = 10⁸")


@pytest.mark.parametrize("side", ["early", "late"])
def test_runs_that_fitted_before_the_switch_give_no_verdict(side):
    table = runs()
    table.loc[(table["method"] == side) & (table["run"] < 2), "phases"] = 2
    row = judge(FAMILIES["E-DAMPCE"].claims, table)[1]
    assert row["verdict"] == NONE
    assert row["evidence"].startswith("2 of 20 runs fitted before λ changed (λ changes after phase 2, and runs had ")
    assert f"2 to 4 ({side})" in row["evidence"]


@pytest.mark.parametrize("outcome", ["step_limit", "diverged"])
def test_runs_that_did_not_fit_give_no_verdict_on_when_damping_matters(outcome):
    table = runs()
    table.loc[(table["method"] == "late") & (table["run"] == 0), "outcome"] = outcome
    assert verdicts(table) == [YES, NONE, YES]


def test_the_evidence_says_how_many_phases_runs_had():
    row = judge(FAMILIES["E-DAMPCE"].claims, runs())[1]
    assert row["evidence"].startswith("early minus late +")
    assert row["evidence"].endswith("λ changes after phase 2, and runs had 4 to 4 (early), 4 to 4 (late)")
