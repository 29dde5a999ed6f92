"""The face of the report: its answer follows the verdicts, and so do its counts."""

import re

import numpy as np
import pandas as pd
import pytest

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import Claim, Evidence, Family, equivalent
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.report.answer import QUESTION, SOURCES, Answer, counts, opening, sentence
from iterlin_lab.statistics import interval
from tests.judged import CLAIMS, claim
from tests.whole import FAMILIES, scopes

YES, NO, UNKNOWN, NONE = VERDICTS


def test_the_numbers_of_evidence_are_those_of_its_words():
    values = pd.Series(np.random.default_rng(1).normal(0.02, 0.01, 9))
    (effect,) = effects({"K = 10": values})
    assert effect[1:4] == pytest.approx([100 * value for value in interval(values)], rel=1e-5)
    evidence = equivalent({"K = 10": values}, 0.01)
    assert evidence
    assert evidence.effects == (effect,)
    assert f"K = 10: {effect.mean:+.1f} [{effect.low:+.1f}, {effect.high:+.1f}]" == evidence.text
    assert effects({"x": pd.Series([1.0]), "y": pd.Series([1.0, np.inf])}, "ratio") == ()


def test_the_judged_claim_has_its_effects_and_one_without_has_none():
    tested = {
        "E-1": lambda *_: Evidence(0.01, 1.0, "a", effects({"": pd.Series([1.0, 2.0, 3.0])}, "ratio")),
        "E-2": lambda *_: Evidence(0.01, 1.0, "a"),
        "E-3": lambda *_: None,
    }
    family = Family("E", "runs", [Claim(name, "T", "s", "p", "t", 0.0, test) for name, test in tested.items()])
    first, *others = judge(family.claims, pd.DataFrame({"run": range(3)}))
    ((name, mean, _, _, unit),) = (effect.values() for effect in first["effects"])
    assert (name, mean, unit) == ("", 2.0, "ratio")
    assert not [row for row in others if "effects" in row]


def test_claims_are_counted_by_verdict_with_a_row_for_all():
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in counts(CLAIMS, "x", lambda name: name[:5]).split("\n")
    ]
    assert rows[0] == ["x", *VERDICTS, "claims"]
    assert rows[2:] == [
        ["E-ONE", "1", "1", "0", "1", "3"],
        ["E-TWO", "1", "0", "1", "0", "2"],
        ["all", "2", "1", "1", "1", "5"],
    ]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (YES, "It holds"),
        (NO, "It fails"),
        (UNKNOWN, "These runs do not decide whether it holds"),
        (NONE, "These runs cannot show whether it holds"),
    ],
)
def test_a_sentence_says_what_the_verdict_says_and_shows_the_farthest_effect(verdict, said):
    claims = {"E-1": claim(verdict, ("K = 10", 0.2, -0.3, 0.8), ("K = 100", -0.4, -0.9, 0.1))}
    assert sentence("E-1", claims, "it holds", "It fails", "80.0 %", "") == (
        f"{said} (80.0 %; largest difference at K = 100 −0.4 points, 95 % interval −0.9 to +0.1; "
        f"[E-1](#claims): **{verdict}**)."
    )


def test_a_sentence_may_have_words_of_its_own_for_a_claim_that_holds():
    said = sentence("E-1", {"E-1": claim(YES)}, "it holds", "It fails", holds="So it is")
    assert said == f"So it is ([E-1](#claims): **{YES}**)."


@pytest.mark.parametrize("loss", [0.003, 0.001])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_answer_follows_the_verdicts(verdict, loss):
    """Whatever they are, and whether or not the table has the K that the claims are on.

    Where another K has trained further than K = 1 that is the first caveat; lazy training trains no network.
    """
    scale = scopes("k_sweep")["laptop"]
    claims = {f"E-SWEEP-{number}": claim(verdict) for number in (1, 3, 6)}
    columns = {"runs": 20, "fitted": [20, 19, 0], "median_feature_updates": [900, 99, 0]}
    means = {"network_validation_stopped_mean": [0.84, 0.83, 0.1], "proxy_validation_stopped_mean": [0.5, 0.5, 0.72]}
    table = pd.DataFrame({"K": [1, 1e4, np.inf]} | columns | means)
    runs = pd.DataFrame({"K": [1, 1e4, np.inf], "network_train_loss": [0.02, loss, 3e-6]})
    (answer,) = EXPERIMENTS["k_sweep"].answer(scale, {"k_sweep": table, "k_sweep_runs": runs}, claims)
    assert len(answer.sentences) == 3
    assert all(f"**{verdict}**" in text for text in answer.sentences)
    open_ones = [text for text in answer.sentences if text.startswith("These runs")]
    assert len(open_ones) == (0 if verdict in (YES, NO) else 3)
    assert "without K = 10⁴, which did not always fit in time" in answer.sentences[0]
    assert "72.0 % after 0 feature updates with K = ∞, 84.0 % with K = 1" in answer.sentences[2]
    assert "%" not in answer.sentences[1]
    assert "not CIFAR-10" in answer.caveat
    warned = answer.caveat.startswith("K = 1 trains to a loss of 2.0e-02, and K = 10⁴ to 1.0e-03. What lies")
    assert warned == (loss == 0.001)


def test_the_control_does_not_say_how_far_k_1_trains():
    runs = pd.DataFrame(
        {"method": ["gradient", "control", "gradient"], "K": [1, 1, 1e8], "network_train_loss": [1e-5, 0.1, 1e-5]}
    )
    slopes = pd.DataFrame({"method": [], "K": [], "slope_mean": []})
    claims = {f"E-DATA-{number}": claim(UNKNOWN) for number in (1, 3, 4)}
    tables = {"data_scaling_slopes": slopes, "data_scaling_runs": runs}
    (answer,) = EXPERIMENTS["data_scaling"].answer(scopes("data_scaling")["laptop"], tables, claims)
    assert "trains to a loss" not in answer.caveat


def test_supported_and_contradicted_answers_are_opposites():
    scale, table = scopes("k_sweep")["laptop"], pd.DataFrame({"K": [], "runs": [], "fitted": []})
    runs = pd.DataFrame({"K": [], "network_train_loss": []})
    said = {}
    for verdict in (YES, NO):
        claims = {f"E-SWEEP-{number}": claim(verdict) for number in (1, 3, 6)}
        (answer,) = EXPERIMENTS["k_sweep"].answer(scale, {"k_sweep": table, "k_sweep_runs": runs}, claims)
        said[verdict] = [text.split(" (E")[0].split(" ([")[0] for text in answer.sentences]
    assert not set(said[YES]) & set(said[NO])
    assert "within a point" in said[YES][0]
    assert "more than a point" in said[NO][0]
    assert "is not a point below" in said[NO][1]


def test_every_claim_has_a_source_with_a_name():
    judged = {one.id: claim(YES, source=one.source) for family in FAMILIES.values() for one in family.claims}
    rows = opening([], "150 digits", judged).splitlines()[-len(SOURCES) - 1 :]
    assert [row.split("|")[1].strip() for row in rows] == [*SOURCES.values(), "all"]
    assert rows[-1].endswith(f" {len(judged)} |")


def test_another_source_stands_as_it_is_after_the_known_ones():
    text = opening([], "150 digits", {"E-NEW-1": claim(NO, source="Someone 2026, fig. 1")} | CLAIMS)
    *_, ours, other, _ = text.splitlines()
    assert [row.split("|")[1].strip() for row in (ours, other)] == ["ours, after these", "Someone 2026, fig. 1"]


def test_the_question_is_asked_where_an_experiment_answers_it():
    text = opening([Answer(["It is so."], "![x](figures/x.svg)", "it is small.")], "150 digits", CLAIMS)
    assert text.startswith(f"## {QUESTION}\n\n- It is so.")
    assert "**Setting**: 150 digits. **Largest caveat**: it is small." in text
    assert re.search(r"T, the newest version of the paper *\| +1 \| +1 \| +0 \| +1 \| +3 \|", text)
    first = Answer(["First."], "", "")
    assert opening([first, Answer(["Second."], "", "a caveat")], "150 digits", CLAIMS) == opening(
        [first], "150 digits", CLAIMS
    )
    alone = opening([], "150 digits", CLAIMS)
    assert QUESTION not in alone
    assert "caveat" not in alone
