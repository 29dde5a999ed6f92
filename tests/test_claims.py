"""Each claim has a synthetic table that makes it pass, one that makes it fail, and one that is too noisy to tell."""

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from scipy import stats

from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.names import row_name
from iterlin_lab.statistics import holm, p_above, p_below
from tests.whole import FAMILIES

YES, NO, UNKNOWN = VERDICTS
PERIODS = (1, 10, 1e4, 1e6, 1e8, np.inf)
TGN = "TGN"


def runs(shifts=(), noise=0.002, number=10, **columns):
    """A table of runs in which each K and TGN differ from K = 1 by its shift, in points."""
    draw, rows = np.random.default_rng(1), []
    level = draw.normal(0.7, 0.05, number)
    for cell in (*PERIODS, TGN):
        accuracy = level + dict(shifts).get(cell, 0) / 100 + draw.normal(0, noise, number)
        rows.append(
            pd.DataFrame(
                {
                    "method": TGN if cell == TGN else "gradient",
                    "K": np.nan if cell == TGN else cell,
                    "run": range(number),
                    "outcome": "fitted",
                    "network_validation_stopped": accuracy,
                    "proxy_validation_stopped": accuracy,
                }
            )
        )
    return pd.concat(rows, ignore_index=True).assign(**columns)


def verdicts(table):
    return {row["id"]: row["verdict"] for row in judge(FAMILIES["E-SWEEP"].claims, table)}


@pytest.mark.parametrize(
    ("claim", "passes", "fails"),
    [
        ("E-SWEEP-1", {}, {1e4: -4}),
        ("E-SWEEP-2", {1e6: 3}, {1e6: -1}),
        ("E-SWEEP-3", {1e8: -5}, {1e8: 2}),
        ("E-SWEEP-4", {1e8: -5, TGN: -5}, {1e8: -5}),
        ("E-SWEEP-5", {TGN: -9}, {}),
        ("E-SWEEP-6", {np.inf: -9}, {}),
    ],
)
def test_a_claim_is_reproduced_where_it_holds_and_not_where_its_opposite_does(claim, passes, fails):
    assert verdicts(runs(passes))[claim] == YES
    assert verdicts(runs(fails))[claim] == NO
    assert verdicts(runs(passes, noise=0.3))[claim] == UNKNOWN


def test_every_claim_is_covered():
    covered = {claim.id for claim in FAMILIES["E-SWEEP"].claims}
    assert covered == {f"E-SWEEP-{number}" for number in range(1, 7)}
    assert set(verdicts(runs())) == covered


def test_a_small_significant_difference_can_still_be_equivalent():
    assert verdicts(runs({10: 0.4, 1e4: 0.4}, noise=0.001))["E-SWEEP-1"] == YES


def test_too_few_runs_or_none_are_not_testable():
    assert set(verdicts(runs(number=4)).values()) == {UNKNOWN}
    table = runs()
    without = verdicts(table[table["K"] != 1e8])
    assert without["E-SWEEP-3"] == without["E-SWEEP-4"] == UNKNOWN


def test_runs_that_did_not_fit_give_no_verdict_on_coinciding():
    table = runs({1e4: -4})
    table.loc[(table["K"] == 1e4) & (table["run"] == 0), "outcome"] = "step_limit"
    (row,) = [row for row in judge(FAMILIES["E-SWEEP"].claims, table) if row["id"] == "E-SWEEP-1"]
    assert row["verdict"] == YES
    assert row["evidence"].endswith("Left out, since some runs did not fit in time: K = 1e4")


def named(table, name):
    """Which rows the report calls so."""
    return pd.Series([row_name(row) == name for row in table.to_dict("records")], table.index)


@pytest.mark.parametrize(
    ("name", "unknown"),
    [("K = 1e8", {"E-SWEEP-3", "E-SWEEP-4"}), ("TGN", {"E-SWEEP-4", "E-SWEEP-5"}), ("K = ∞", set())],
)
def test_a_run_that_met_its_step_limit_gives_no_verdict_but_for_lazy_training(name, unknown):
    table = runs({10: 3, 1e6: 3, 1e8: -9, TGN: -9, np.inf: -9})
    assert set(verdicts(table).values()) == {YES, NO}
    table.loc[named(table, name) & (table["run"] == 0), "outcome"] = "step_limit"
    assert {claim for claim, verdict in verdicts(table).items() if verdict == UNKNOWN} == unknown


@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("K = 1", {f"E-SWEEP-{number}" for number in (1, 2, 3, 5, 6)}),
        ("K = 1e8", {"E-SWEEP-3", "E-SWEEP-4"}),
        ("TGN", {"E-SWEEP-4", "E-SWEEP-5"}),
        ("K = ∞", {"E-SWEEP-6"}),
    ],
)
def test_no_verdict_rests_on_runs_that_diverged(name, unknown):
    table = runs({10: 3, 1e6: 3, 1e8: -9, TGN: -9, np.inf: -9})
    table.loc[named(table, name) & (table["run"] < 3), "outcome"] = "diverged"
    rows = {row["id"]: row for row in judge(FAMILIES["E-SWEEP"].claims, table)}
    assert {claim for claim, row in rows.items() if row["verdict"] == UNKNOWN} == unknown
    for claim in unknown:
        assert rows[claim]["evidence"].endswith(f"did not all reach their own end (diverged: 3 of 10 at {name})")


def test_holm_is_that_of_the_textbook():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_one_sided_p_values_are_those_of_scipy():
    values = pd.Series(np.random.default_rng(1).normal(0.1, 1, 12))
    _, expected = stats.ttest_1samp(values, 0.3, alternative="greater")
    assert p_above(values, 0.3) == pytest.approx(expected)
    assert p_above(values, 0.3) + p_below(values, 0.3) == pytest.approx(1)


def test_the_report_shows_a_claim_whole():
    claim = {"statement": "a", "source": "T", "paper": "b", "verdict": YES, "evidence": "mean |x|: 0.1"}
    page = MarkdownIt("commonmark").enable("table").render(claims_section({"E-1": claim}))
    assert ">mean |x|: 0.1</td>" in page
