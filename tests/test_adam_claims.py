"""The claims of E-ADAM: which runs a verdict rests on, and what is none."""

import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.verdicts import VERDICTS, judge
from tests.whole import FAMILIES

YES, NO, UNKNOWN, NONE = VERDICTS

SGD, GRADIENT, SOLVED = ("descent", 1.0, 0.01), ("Adam", 1.0, 0.001), ("Adam", 1000.0, 0.003)
KEPT = ("kept", 1000.0, 0.003)
FINE, FINER = ("TGN", np.nan, 1e-4), ("TGN", np.nan, 1e-5)
LEVEL = {SGD: 0, GRADIENT: 0, SOLVED: -9, KEPT: -9, FINE: -9, FINER: -9}


def runs(shifts, noise=0.002, number=10):
    """A table of runs in which each method and K differs from the first by its shift, in points."""
    draw = np.random.default_rng(1)
    level = draw.normal(0.7, 0.05, number)
    rows = [
        pd.DataFrame({"run": range(number), "network_final": level + shift / 100 + draw.normal(0, noise, number)})
        for shift in shifts.values()
    ]
    keys = ["method", "K", "number"]
    rows = [row.assign(**dict(zip(keys, key, strict=True))) for key, row in zip(shifts, rows, strict=True)]
    table = pd.concat(rows, ignore_index=True).assign(outcome="fitted", chosen=True)
    newton, number = table["method"] == "TGN", table.pop("number")
    table = table.assign(learning_rate=number.mask(newton), tolerance=number.where(newton))
    return table.assign(phases=3, recorded=3, proxy_train_accuracy_lowest=1.0)


def verdicts(experiment, table):
    return {row["id"]: row["verdict"] for row in judge(FAMILIES[experiment].claims, table)}


@pytest.mark.parametrize(
    ("gradient", "solved", "noise", "expected"),
    [
        (0, -9, 0.002, (YES, YES)),
        (-3, -3, 0.002, (NO, NO)),
        (0, -5, 0.002, (UNKNOWN, YES)),
        (-1, -9, 0.002, (YES, UNKNOWN)),
        (0, -9, 0.3, (UNKNOWN, UNKNOWN)),
    ],
)
def test_the_claims_of_adam(gradient, solved, noise, expected):
    table = runs(LEVEL | {GRADIENT: gradient, SOLVED: solved}, noise)
    assert tuple(verdicts("E-ADAM", table).values())[:2] == expected


@pytest.mark.parametrize(
    ("claim", "cell"),
    [("E-ADAM-3", KEPT), ("E-ADAM-4", FINER)],
)
def test_claims_of_no_difference(claim, cell):
    assert verdicts("E-ADAM", runs(LEVEL))[claim] == YES
    assert verdicts("E-ADAM", runs(LEVEL | {cell: -12}))[claim] == NO
    assert verdicts("E-ADAM", runs(LEVEL, noise=0.3))[claim] == UNKNOWN


def test_k_of_one_is_that_of_the_chosen_learning_rate():
    """Runs with another η, which did better on test data or diverged, change no verdict."""
    table = runs(LEVEL)
    other = table[(table["K"] == 1)].assign(learning_rate=0.04, network_final=0.99, chosen=False)
    for others in (other, other.assign(outcome="diverged")):
        assert verdicts("E-ADAM", pd.concat([table, others])) == verdicts("E-ADAM", table)


def test_one_tolerance_has_nothing_to_be_compared_with():
    table = runs(LEVEL)
    *_, row = judge(FAMILIES["E-ADAM"].claims, table[table["tolerance"] != FINER[-1]])
    assert (row["verdict"], row["evidence"]) == (NONE, "it takes two tolerances")


@pytest.mark.parametrize(
    ("cell", "column", "value", "unknown"),
    [
        (SGD, "outcome", "step_limit", {"E-ADAM-1", "E-ADAM-2"}),
        (SOLVED, "outcome", "diverged", {"E-ADAM-1", "E-ADAM-3"}),
        (SOLVED, "proxy_train_accuracy_lowest", 0.99, {"E-ADAM-1"}),
        (SOLVED, "recorded", 2, {"E-ADAM-1"}),
        (GRADIENT, "outcome", "step_limit", {"E-ADAM-2"}),
        (KEPT, "outcome", "diverged", {"E-ADAM-3"}),
        (KEPT, "outcome", "step_limit", set()),
        (FINE, "outcome", "step_limit", {"E-ADAM-4"}),
        (FINER, "outcome", "diverged", {"E-ADAM-4"}),
    ],
)
def test_no_verdict_rests_on_problems_that_were_not_solved_or_runs_that_were_cut_off(cell, column, value, unknown):
    table = runs(LEVEL)
    method, _, number = cell
    of_cell = (table["method"] == method) & (table[["learning_rate", "tolerance"]] == number).any(axis=1)
    table.loc[of_cell & (table["run"] == 0), column] = value
    assert {claim for claim, verdict in verdicts("E-ADAM", table).items() if verdict == NONE} == unknown
