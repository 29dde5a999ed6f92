"""The figure of the claims shows their effects, and the page of the report needs nothing else."""

import re
from html.parser import HTMLParser
from typing import Any

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex

from iterlin_lab.claims.verdicts import VERDICTS
from iterlin_lab.figures.forest import LOOK, NARROW, WIDE, forest
from iterlin_lab.figures.style import drawing, save
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.headings import anchors
from iterlin_lab.report.page import html
from tests.judged import CLAIMS

YES, NO, UNKNOWN, NONE = VERDICTS


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
