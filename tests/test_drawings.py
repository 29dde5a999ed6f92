"""A drawing on a page takes fewer bytes than its file, and shows the same."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from iterlin_lab.figures.style import save
from iterlin_lab.report.drawings import relative
from iterlin_lab.report.page import html
from tests.clone import ROOT


def test_rounding_leaves_texts_and_small_shapes_alone(tmp_path):
    (tmp_path / "x.svg").write_text(
        '<?xml version="1.0"?>\n<!-- a -->\n<svg xmlns="s" width="504pt" height="100pt">\n <g id="free">\n'
        '  <path id="m" d="M 12.3456 -0.5678 \nL 1.2345 2"/><path d="M 0 1" clip-path="url(#m)" style="fill: red"/>\n'
        '  <g id="used"><use xlink:href="#m" x="1.2345" y="10.98765" style="fill: red"/></g>\n </g>\n'
        ' <text style="fill: red" x="3">0.12345</text>\n</svg>\n'
    )
    page = html("# T\n\n![y](figures/x.svg)\n", tmp_path)
    assert (
        '<svg role="img" aria-label="y" width="655.2pt" height="130pt">'
        '<path id="n0" d="M12.3-0.6l-11.1 2.6"/><path d="M0 1" class="d0 n0"/>'
        '<use href="#n0" x="1.23" y="11" class="d0"/><text class="d0" x="3">0.12345</text></svg>'
    ) in page
    assert ".d0{fill:red}\n.n0{clip-path:url(#n0)}" in page


@pytest.mark.parametrize("size", [1.0, 300.0])
def test_the_steps_of_a_path_lead_to_its_places(size):
    """However many there are: they are rounded, and no error adds up."""
    letters = {"M": 1, "L": 1, "Q": 2, "C": 3, "z": 0}
    draw, path, places = np.random.default_rng(2), "", []
    for letter in ["M", *draw.choice(["L", "L", "L", "Q", "C"], 400), "z", "M", "L", "z", "L"]:
        points = draw.uniform(-size, size, (letters[letter], 2))
        places.append(points)
        path += letter + " ".join(f"{value:.6f}" for value in points.ravel()) + " "
    shorter = relative(path)
    assert len(shorter) < 0.7 * len(path)
    assert followed(shorter) == pytest.approx(np.concatenate(places), abs=0.051 if size > 10 else 0.0051)


def followed(path):
    """All points of a path of steps."""
    at, start, found = np.zeros(2), np.zeros(2), []
    for letter, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        points = np.array(re.findall(r"-?[\d.]+", text), float).reshape(-1, {"q": 2, "c": 3}.get(letter, 1), 2)
        for group in points:
            found += [point if letter == "M" else at + point for point in group]
            at = found[-1]
        start = at if letter == "M" else start
        at = start if letter == "z" else at
    return np.array(found)


def test_shapes_that_one_frame_clips_share_a_group(tmp_path):
    shapes = [(frame, x) for frame, number in (("a", 3), ("b", 1), ("a", 2)) for x in range(number)]
    uses = "".join(f'<g clip-path="url(#{frame})">\n <use xlink:href="#m" x="{x}"/>\n</g>\n' for frame, x in shapes)
    defined = '<path id="m" d="M 0 1"/><clipPath id="a"/><clipPath id="b"/>'
    (tmp_path / "x.svg").write_text(f'<svg xmlns="s">\n{defined}\n{uses}</svg>\n')
    page = html("# T\n\n![y](figures/x.svg)\n", tmp_path)
    groups = re.findall(r'<g clip-path="url\(#(\w+)\)">(.*?)</g>', page)
    first, second, third = (name for name, _ in groups)
    assert first == third != second
    assert [re.findall(r'x="(\d)"', shown) for _, shown in groups] == [["0", "1", "2"], ["0"], ["0", "1"]]


@pytest.mark.parametrize("path", sorted((ROOT / "reports/laptop/figures").glob("*.svg")), ids=lambda path: path.stem)
def test_a_figure_is_printed_on_a_page_without_making_it_smaller(path):
    width, unit = re.search(r'<svg [^>]*?width="([\d.]+)(\w+)"', path.read_text()).groups()  # pyright: ignore[reportOptionalMemberAccess]
    assert unit == "pt"
    assert float(width) <= 7 * 72


def test_a_layout_is_rounded_so_that_no_byte_depends_on_the_processor(tmp_path):
    figure, panels = plt.subplots(1, 2, layout="constrained")
    panels[0].set_ylabel("so long a label that the panels make room for it")
    save(figure, tmp_path / "x")
    places = np.array([axes.get_position(original=True).bounds for axes in panels])
    assert places[0, 0] > 0.05
    np.testing.assert_allclose(places, np.round(places, 5), rtol=0, atol=1e-15)
    plt.close(figure)


@pytest.mark.parametrize(
    ("panels", "letters"), [((1, 1), []), ((1, 3), ["a", "b", "c"]), ((2, 2), list("abcd")), ((2, 4), [])]
)
def test_panels_have_letters_where_captions_can_name_them(panels, letters, tmp_path):
    figure, grid = plt.subplots(*panels, squeeze=False)
    figure.colorbar(grid[0, 0].imshow([[0, 1]]), ax=grid)
    grid[0, 0].set_title("the title stays")
    save(figure, tmp_path / "x")
    assert [text for axes in figure.axes if (text := axes.get_title(loc="left"))] == letters
    assert grid[0, 0].get_title() == "the title stays"
    plt.close(figure)
