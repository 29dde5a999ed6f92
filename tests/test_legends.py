"""A drawing on the page: what its legend names is seen alone where one points at it."""

import re

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from iterlin_lab.figures.panels import band
from iterlin_lab.figures.style import drawing, save_drawing
from iterlin_lab.report.page import html
from tests.browser import dom

CURVE = pd.DataFrame({"a_mean": [0.2, 0.8], "a_low": [0.1, 0.7], "a_high": [0.3, 0.9]})
POINT = """<script>
const [drawing] = document.querySelectorAll(".wide svg");
const at = (text) => [...drawing.querySelectorAll("text")].find((one) => one.textContent === text) ?? drawing;
const happen = (kind, text) =>
  at(text).dispatchEvent(new MouseEvent(kind, { bubbles: !/enter|leave/.test(kind) }));
drawing.dispatchEvent(new MouseEvent("pointerenter"));
STEPS
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with one drawing: a lazy curve in black, another in a colour, each with its band; and a cross."""
    folder = tmp_path_factory.mktemp("legend")
    with drawing():
        figure, axes = plt.subplots(figsize=(5, 3))
        band(axes, [0, 1], CURVE, "a", "#2a788e", label="K = 10")
        band(axes, [0, 1], 0.5 * CURVE, "a", "black", linestyle="--", label="K = ∞ (lazy)")
        axes.plot(0.5, 0.5, "X", color="0.4")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        save_drawing(figure, folder / "f.svg")
        plt.close(figure)
    return html("# T\n\n![two curves](figures/f.svg)\n", folder)


def faded(page, folder, *steps):
    """The texts that have faded once these have happened, and how many shapes have."""
    script = POINT.replace("STEPS", "\n".join(f'happen("{kind}", "{text}");' for kind, text in steps))
    (folder / "index.html").write_text(page.replace("</body>", f"{script}</body>"))
    (seen,) = re.findall(r"<svg.*?</svg>", dom((folder / "index.html").as_uri(), folder), re.DOTALL)
    found = re.findall(r"<(\w+)[^>]*opacity: 0\.12[^>]*>([^<]*)", seen)
    return [text for kind, text in found if kind == "text"], len([kind for kind, _ in found if kind != "text"])


OVER, AWAY = ("pointerover", "K = 10"), ("pointerleave", "")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], ([], 0)),
        ([OVER], (["K = ∞ (lazy)"], 3)),  # its handle, its line and its band
        ([("pointerover", "K = ∞ (lazy)")], (["K = 10"], 3)),
        ([OVER, ("pointerover", "0.0")], ([], 0)),
        ([OVER, AWAY], ([], 0)),
        ([OVER, ("click", "K = 10"), AWAY], (["K = ∞ (lazy)"], 3)),
        ([OVER, ("click", "K = 10"), ("click", "K = 10"), AWAY], ([], 0)),
    ],
)
def test_what_a_legend_names_is_seen_alone_where_one_points_at_it(page, tmp_path, steps, expected):
    assert faded(page, tmp_path, *steps) == expected
