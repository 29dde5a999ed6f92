"""The face of the report: its answer follows the verdicts, its figure the effects, and its page needs nothing else."""

import re
from html.parser import HTMLParser
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import Claim, Evidence, Family, equivalent
from iterlin_lab.claims.verdicts import VERDICTS, judge
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.figures.forest import LOOK, NARROW, WIDE, forest
from iterlin_lab.figures.style import drawing, save
from iterlin_lab.report.answer import QUESTION, SOURCES, Answer, counts, opening, sentence
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.headings import anchors
from iterlin_lab.report.page import html
from iterlin_lab.statistics import interval
from tests.whole import FAMILIES, scopes

YES, NO, UNKNOWN, NONE = VERDICTS


def claim(verdict, *found, source="T §1", unit="points", margin=0.01):
    """A judged claim with these effects: a name, a mean and the ends of an interval each."""
    made = [dict(zip(("name", "mean", "low", "high"), one, strict=True), unit=unit) for one in found]
    row = {"statement": "a", "source": source, "paper": "the same curve", "margin": margin, "verdict": verdict}
    return row | {"evidence": "b"} | ({"effects": made} if made else {})


CLAIMS = {
    "E-ONE-1": claim(YES, ("K = 10", 0.2, -0.3, 0.8), ("K = 100", -0.4, -0.9, 0.1)),
    "E-ONE-2": claim(NO, ("", -7.0, -9.0, -5.0)),
    "E-ONE-3": claim(NONE),
    "E-TWO-1": claim(UNKNOWN, ("", 0.5, -4.0, 5.0), source="W §4", margin=0.05),
    "E-TWO-2": claim(YES, ("", -0.5, -0.6, -0.4), source="ours, after T §1", unit="exponent"),
}


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


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_answer_follows_the_verdicts(verdict):
    """Whatever they are, and whether or not the table has the K that the claims are on."""
    scale = scopes("k_sweep")["laptop"]
    claims = {f"E-SWEEP-{number}": claim(verdict) for number in (1, 3, 6)}
    columns = {"runs": 20, "fitted": [20, 19, 0], "median_feature_updates": [900, 99, 0]}
    means = {"network_validation_stopped_mean": [0.84, 0.83, 0.1], "proxy_validation_stopped_mean": [0.5, 0.5, 0.72]}
    table = pd.DataFrame({"K": [1, 1e4, np.inf]} | columns | means)
    (answer,) = EXPERIMENTS["k_sweep"].answer(scale, {"k_sweep": table}, claims)
    assert len(answer.sentences) == 3
    assert all(f"**{verdict}**" in text for text in answer.sentences)
    open_ones = [text for text in answer.sentences if text.startswith("These runs")]
    assert len(open_ones) == (0 if verdict in (YES, NO) else 3)
    assert "without K = 10⁴, which did not always fit in time" in answer.sentences[0]
    assert "72.0 % after 0 feature updates with K = ∞, 84.0 % with K = 1" in answer.sentences[2]
    assert "%" not in answer.sentences[1]
    assert "not CIFAR-10" in answer.caveat


def test_supported_and_contradicted_answers_are_opposites():
    scale, table = scopes("k_sweep")["laptop"], pd.DataFrame({"K": [], "runs": [], "fitted": []})
    said = {}
    for verdict in (YES, NO):
        claims = {f"E-SWEEP-{number}": claim(verdict) for number in (1, 3, 6)}
        (answer,) = EXPERIMENTS["k_sweep"].answer(scale, {"k_sweep": table}, claims)
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


@pytest.fixture
def figure():
    with drawing():
        yield forest(CLAIMS)
    plt.close("all")


def test_the_figure_has_the_claims_with_effects_in_points_and_no_others(figure):
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert [text for text in texts if re.fullmatch(r"E-.*-\d", text)] == ["E-ONE-1", "E-ONE-2", "E-TWO-1"]
    assert [text for text in texts if text in VERDICTS] == [YES, NO, UNKNOWN]
    assert texts.count("the same curve") == 3
    assert forest({name: row for name, row in CLAIMS.items() if name in ("E-ONE-3", "E-TWO-2")}) is None


def test_verdicts_have_markers_and_colours_of_their_own(figure):
    assert len({marker for _, marker in LOOK.values()}) == len({color for color, _ in LOOK.values()}) == len(LOOK)
    (axes,) = figure.axes
    drawn = [
        (line.get_xdata()[0], line.get_marker(), to_hex(line.get_color()))
        for line in axes.get_lines()
        if line.get_marker() in "oXD" and len(line.get_xdata()) == 1
    ]
    looks = {verdict: (marker, to_hex(color)) for verdict, (color, marker) in LOOK.items()}
    means = {0.2: YES, -0.4: YES, -7.0: NO, 0.5: UNKNOWN}
    assert drawn == [(mean, *looks[verdict]) for mean, verdict in means.items()]


@pytest.mark.parametrize("columns", [WIDE, NARROW])
def test_the_figure_shows_every_margin_and_fits_the_page(columns):
    with drawing():
        figure: Any = forest(CLAIMS, columns)
    (axes,) = figure.axes
    margins = [(bar.get_x(), bar.get_width()) for bar in axes.patches if bar.get_width()]
    assert margins == [(-1, 2), (-1, 2), (-5, 10)]
    width, height = figure.get_size_inches()
    assert width == columns.width
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert min(box.x0 for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= width * figure.dpi
    assert min(text.get_fontsize() for text in axes.texts) >= 8
    assert not [1 for one in boxes for other in boxes if one is not other and one.overlaps(other)]
    assert height < 4


class Page(HTMLParser):
    """What a page has: ids, the places that links lead to, what it loads, and all of its text."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.words = [], re.findall(r"url\((#[^)]*)\)", text), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        self.loads += [found["src"]] if "src" in found else []
        self.loads += [tag] if tag in ("link", "iframe") else []

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def page(tmp_path, figure):
    """A report with one figure twice, under two names, and a claim that leads to its experiment."""
    for name in ("one", "claims"):
        save(figure, tmp_path / name)
    sections = ['## E-ONE: a first one\n\n![A <b> & "c"](figures/one.svg)\n']
    shown = claims_section("mine", CLAIMS, tmp_path / "none.csv", anchors("".join(sections)))
    return html("\n\n".join(["# The `mine` scale", shown, *sections]), tmp_path)


def test_every_link_of_the_page_leads_to_an_id_and_no_two_are_the_same(page):
    found = Page(page)
    assert len(set(found.ids)) == len(found.ids)
    assert {"claims", "e-one-a-first-one"} <= set(found.ids)
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert found.links.count("#e-one-a-first-one") == 1 + 1 + 3  # contents, counts, and the three claims of it
    assert "#e-two" not in page


def test_the_page_needs_nothing_else_and_its_figures_are_text(page):
    found = Page(page)
    assert not found.loads
    assert not re.findall(r"@import|url\((?!#)", page)
    assert page.count("<svg") == page.count('role="img"') == 2
    assert 'aria-label="Effects, margins and verdicts of 3 claims"' in page
    assert 'aria-label="A &lt;b&gt; &amp; &quot;c&quot;"' in page
    assert "".join(found.words).count("what the source says") == 2


def test_a_figure_on_the_page_takes_less_than_its_file(page, tmp_path):
    drawing = page[page.rindex("<svg") : page.rindex("</svg>")]
    assert len(drawing) < 0.6 * len((tmp_path / "one.svg").read_text())
    assert page.count('<div class="wide" tabindex="0">') == page.count("<table>") == 2
