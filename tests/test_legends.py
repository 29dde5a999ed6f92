"""A drawing on the page: what its legend names is seen alone where one points at it."""

import json
import re

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from iterlin_lab.figures.panels import band
from iterlin_lab.figures.style import drawing, save_drawing
from iterlin_lab.report.page import html
from tests.browser import dom

CURVE = pd.DataFrame({"a_mean": [0.2, 0.8], "a_low": [0.1, 0.7], "a_high": [0.3, 0.9]})
OVER, AWAY = ("pointerover", "K = 10"), ("pointerleave", "")
CASES = (
    ([], [], 0),
    ([OVER], ["K = ∞ (lazy)"], 3),  # its handle, its line and its band
    ([("pointerover", "K = ∞ (lazy)")], ["K = 10"], 3),
    ([OVER, ("pointerover", "0.0")], [], 0),
    ([OVER, AWAY], [], 0),
    ([OVER, ("click", "K = 10"), AWAY], ["K = ∞ (lazy)"], 3),
    ([OVER, ("click", "K = 10"), ("click", "K = 10"), AWAY], [], 0),
)
HAPPEN = """<script>
const cases = CASES;
document.querySelectorAll(".wide svg").forEach((drawing, number) => {
  const at = (text) => [...drawing.querySelectorAll("text")].find((one) => one.textContent === text) ?? drawing;
  const happen = (kind, text) => at(text).dispatchEvent(new MouseEvent(kind, { bubbles: !/enter|leave/.test(kind) }));
  happen("pointerenter", "");
  for (const step of cases[number]) happen(...step);
});
</script>"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """The drawing of every case once that has happened: two curves with their bands, one black, and a cross."""
    folder = tmp_path_factory.mktemp("legend")
    with drawing():
        figure, axes = plt.subplots(figsize=(5, 3))
        band(axes, [0, 1], CURVE, "a", "#2a788e", label="K = 10")
        band(axes, [0, 1], 0.5 * CURVE, "a", "black", linestyle="--", label="K = ∞ (lazy)")
        axes.plot(0.5, 0.5, "X", color="0.4")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        save_drawing(figure, folder / "f.svg")
        plt.close(figure)
    page = html("# T\n\n" + "![two curves](figures/f.svg)\n\n" * len(CASES), folder)
    script = HAPPEN.replace("CASES", json.dumps([steps for steps, *_ in CASES]))
    (folder / "index.html").write_text(page.replace("</body>", f"{script}</body>"))
    return re.findall(r"<svg.*?</svg>", dom((folder / "index.html").as_uri(), folder), re.DOTALL)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_what_a_legend_names_is_seen_alone_where_one_points_at_it(seen, number):
    _, texts, shapes = CASES[number]
    faded = re.findall(r"<(\w+)[^>]*opacity: 0\.12[^>]*>([^<]*)", seen[number])
    assert [text for kind, text in faded if kind == "text"] == texts
    assert len([kind for kind, _ in faded if kind != "text"]) == shapes
