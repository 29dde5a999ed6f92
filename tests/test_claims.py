"""Each claim has a synthetic table that makes it pass, one that makes it fail, and one that is too noisy to tell."""

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from scipy import stats

from iterlin_lab.claims.evidence import Claim, Evidence, Family
from iterlin_lab.claims.verdicts import VERDICTS, judge, judge_all
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.names import row_name
from iterlin_lab.statistics import exact_interval, holm, p_above, p_below, runs_that_decide
from tests.whole import FAMILIES

YES, NO, UNKNOWN, NONE = VERDICTS
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
                    "largest_gap": 0.02 + max(0, -dict(shifts).get(cell, 0)) / 100 + draw.normal(0, noise, number),
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
        ("E-SWEEP-7", {1e6: -5, 1e8: -5}, {1e8: -5}),
        ("E-SWEEP-8", {}, {1e4: -4}),
    ],
)
def test_a_claim_is_supported_where_it_holds_and_contradicted_where_its_opposite_does(claim, passes, fails):
    assert verdicts(runs(passes))[claim] == YES
    assert verdicts(runs(fails))[claim] == NO
    assert verdicts(runs(passes, noise=0.3))[claim] == UNKNOWN


def test_every_claim_is_covered():
    covered = {claim.id for claim in FAMILIES["E-SWEEP"].claims}
    assert covered == {f"E-SWEEP-{number}" for number in range(1, 9)}
    assert set(verdicts(runs())) == covered


def test_a_small_significant_difference_can_still_be_equivalent():
    assert verdicts(runs({10: 0.4, 1e4: 0.4}, noise=0.001))["E-SWEEP-1"] == YES


def test_claims_on_too_few_runs_or_none_are_not_applicable():
    assert set(verdicts(runs(number=4)).values()) == {NONE}
    table = runs()
    without = verdicts(table[table["K"] != 1e8])
    assert without["E-SWEEP-3"] == without["E-SWEEP-4"] == NONE


def test_runs_that_did_not_fit_give_no_verdict_on_coinciding():
    table = runs({1e4: -4})
    table.loc[(table["K"] == 1e4) & (table["run"] == 0), "outcome"] = "step_limit"
    (row,) = [row for row in judge(FAMILIES["E-SWEEP"].claims, table) if row["id"] == "E-SWEEP-1"]
    assert row["verdict"] == YES
    assert row["evidence"].endswith("Left out, since some runs did not fit in time: K = 10⁴")


def named(table, name):
    """Which rows the report calls so."""
    return pd.Series([row_name(row) == name for row in table.to_dict("records")], table.index)


@pytest.mark.parametrize(
    ("name", "unknown"),
    [("K = 10⁸", {"E-SWEEP-3", "E-SWEEP-4", "E-SWEEP-7"}), ("TGN", {"E-SWEEP-4", "E-SWEEP-5"}), ("K = ∞", set())],
)
def test_a_run_that_met_its_step_limit_gives_no_verdict_but_for_lazy_training(name, unknown):
    table = runs({10: 3, 1e6: 3, 1e8: -9, TGN: -9, np.inf: -9})
    assert set(verdicts(table).values()) == {YES, NO}
    table.loc[named(table, name) & (table["run"] == 0), "outcome"] = "step_limit"
    assert {claim for claim, verdict in verdicts(table).items() if verdict == NONE} == unknown


@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("K = 1", {f"E-SWEEP-{number}" for number in (1, 2, 3, 5, 6, 8)}),
        ("K = 10⁸", {"E-SWEEP-3", "E-SWEEP-4", "E-SWEEP-7"}),
        ("TGN", {"E-SWEEP-4", "E-SWEEP-5"}),
        ("K = ∞", {"E-SWEEP-6"}),
    ],
)
def test_no_verdict_rests_on_runs_that_diverged(name, unknown):
    table = runs({10: 3, 1e6: 3, 1e8: -9, TGN: -9, np.inf: -9})
    table.loc[named(table, name) & (table["run"] < 3), "outcome"] = "diverged"
    rows = {row["id"]: row for row in judge(FAMILIES["E-SWEEP"].claims, table)}
    assert {claim for claim, row in rows.items() if row["verdict"] == NONE} == unknown
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


def test_exact_intervals_are_those_of_scipy():
    for number in (1, 7, 20):
        for count in range(number + 1):
            expected = stats.binomtest(count, number).proportion_ci(0.95, method="exact")
            assert exact_interval(count, number) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_missing_runs_of_one_claim_make_no_other_claim_easier():
    """Six claims are corrected for six, whatever runs there are."""
    table = runs({1e8: -0.4}, noise=0.003)
    (whole, less) = (
        {row["id"]: row for row in judge(FAMILIES["E-SWEEP"].claims, kept)}
        for kept in (table, table[table["K"] != np.inf])
    )
    assert less["E-SWEEP-6"]["verdict"] == NONE
    assert less["E-SWEEP-3"]["p_for_alone"] == whole["E-SWEEP-3"]["p_for_alone"]
    assert less["E-SWEEP-3"]["p_for"] >= whole["E-SWEEP-3"]["p_for"]


def test_where_the_effect_is_there_and_smaller_than_the_margin_the_evidence_says_so():
    (row,) = (row for row in judge(FAMILIES["E-SWEEP"].claims, runs({1e8: -0.5}, noise=0.001)) if row["id"][-1] == "3")
    assert row["verdict"] == YES
    assert row["evidence"].endswith("the opposite holds as well: what was found is there, and smaller than the margin")


def test_the_runs_that_decide_are_those_of_the_normal_test():
    """With the same mean and spread in so many runs, the quantile of p is that of the level and the power together."""

    def runs_of(number):
        return pd.Series(stats.norm.ppf((np.arange(number) + 0.5) / number) + 0.06)

    needed = runs_that_decide(p_above(runs_of(400), 0), 400, 0.01)
    assert needed > 400
    many = runs_of(int(needed))
    assert stats.norm.isf(p_above(many, 0)) == pytest.approx(stats.norm.isf(0.01) + stats.norm.isf(0.2), rel=0.02)
    assert runs_that_decide(0.7, 10, 0.01) == np.inf


def test_an_inconclusive_claim_says_where_it_leans_and_how_many_runs_would_decide():
    rows = {row["id"]: row for row in judge(FAMILIES["E-SWEEP"].claims, runs({1e8: -0.4}, noise=0.01))}
    row = rows["E-SWEEP-3"]
    assert (row["verdict"], row["runs"]) == (UNKNOWN, 10)
    nearer = row["leans"] == YES
    assert nearer == (row["p_for_alone"] < row["p_against_alone"])
    p = min(row["p_for_alone"], row["p_against_alone"])
    assert row["runs_that_decide"] == runs_that_decide(p, 10, 0.05 / 8) > 10


def shown(claims, history):
    """The section as a page, without line breaks."""
    return " ".join(MarkdownIt("commonmark").enable("table").render(claims_section("mine", claims, history)).split())


def test_the_report_shows_a_claim_whole(tmp_path):
    claim = {"statement": "a", "source": "T", "paper": "b", "verdict": NONE, "evidence": "mean |x|: 0.1"}
    page = shown({"E-1": claim}, tmp_path / "none.csv")
    assert ">mean |x|: 0.1</td>" in page
    assert "No earlier report of this scale is on record." in page


def test_the_report_says_how_often_verdicts_changed(tmp_path):
    history = pd.DataFrame({"commit": ["a", "b"], "date": "", "seed": [4, 5], "what": "", "E-SWEEP-1": [NO, YES]})
    history.to_csv(path := tmp_path / "mine.csv", index=False)
    rows = judge_all([FAMILIES["E-SWEEP"]], {"k_sweep_runs": runs({1e8: -0.4}, noise=0.01)})
    page = shown({row["id"]: row for row in rows}, path)
    assert "2 reports; from one to the next, 1 of 1 verdicts changed, with the seeds 4, 5" in page
    assert page.count(">1 of 1</td>") == 1
    decide = float(f"{rows[2]['runs_that_decide']:.2g}")
    assert f"leans to {rows[2]['leans']}: 10 runs, some {decide:.0f} decide</td>" in page


def test_one_report_on_record_has_changed_nothing(tmp_path):
    pd.DataFrame({"commit": ["a"], "date": "", "seed": [61], "what": "", "E-1": [NO]}).to_csv(
        path := tmp_path / "mine.csv", index=False
    )
    page = shown({"E-1": {"statement": "a", "source": "T", "paper": "b", "verdict": NONE, "evidence": "c"}}, path)
    assert "One report of this scale is on record (reports/history/mine.csv), with the seed 61." in page
    assert "changed" not in page


def test_the_correction_for_all_claims_takes_verdicts_away_and_the_report_says_which(tmp_path):
    """One claim that holds at p = 0.03 does not among four; one that holds at 0.001 does."""
    made = [(f"E-{number}", p) for number, p in enumerate((0.03, 0.001, 0.4, None))]

    def family(name, p):
        found = p and Evidence(p, 1 - p, "x")
        return Family("E", "runs", [Claim(name, "T", "s", "p", "t", 0.0, lambda *_: found)])

    families = [family(name, p) for name, p in made]
    rows = {row["id"]: row for row in judge_all(families, {"runs": pd.DataFrame({"run": range(5)})})}
    assert [row["verdict"] for row in rows.values()] == [YES, YES, UNKNOWN, NONE]
    assert [row.get("verdict_of_all") for row in rows.values()] == [UNKNOWN, YES, UNKNOWN, None]
    assert rows["E-0"]["p_for_of_all"] == pytest.approx(3 * 0.03)
    page = shown(rows, tmp_path / "none.csv")
    assert "The correction for all makes 1 of them inconclusive: E-0." in page
    assert "2 supported, 0 contradicted, 1 inconclusive, 1 not applicable at this scale" in page
