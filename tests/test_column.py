"""A figure in one column says what the wide one says, on the width of a phone."""

from itertools import pairwise

import matplotlib.pyplot as plt
import pytest
from matplotlib.lines import Line2D

from iterlin_lab.figures.column import WIDTH, one_column, save_with_column
from iterlin_lab.figures.panels import halves
from iterlin_lab.figures.style import drawing
from iterlin_lab.report.drawings import COLUMN
from iterlin_lab.report.page import html
from tests.browser import dom


@pytest.fixture
def figure():
    """Four panels that share their axes, with a legend beside them."""
    with drawing():
        figure, panels = plt.subplots(2, 2, figsize=(7, 4), sharex="col", sharey="row", height_ratios=(3, 1))
        for number, axes in enumerate(panels.flat):
            axes.errorbar([1, 2], [3, 4], [1, 1], label=f"line {number}")
        for row, column in ((0, 0), (1, 0)):
            panels[row, column].set_ylabel(f"height {row}")
        for column in (0, 1):
            panels[1, column].set_xlabel(f"length {column}")
        panels[1, 1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
        yield figure
        plt.close("all")


def test_panels_stand_below_each_other_in_their_order_as_wide_as_a_column(figure):
    panels = list(figure.axes)
    assert one_column(figure)
    figure.draw_without_rendering()
    assert figure.get_figwidth() == WIDTH
    boxes = [axes.get_tightbbox() for axes in panels]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= WIDTH * figure.dpi
    heights = [axes.bbox.height for axes in panels]
    assert heights[0] == pytest.approx(heights[1], rel=0.01)
    assert heights[0] > 2 * heights[2]  # of 3 to 1, less what stands around a panel


def test_every_panel_says_what_a_shared_axis_said(figure):
    panels = list(figure.axes)
    one_column(figure)
    assert [axes.get_ylabel() for axes in panels] == ["height 0", "height 0", "height 1", "height 1"]
    assert [axes.get_xlabel() for axes in panels] == ["length 0", "length 1"] * 2
    for axes in panels:
        shown = axes.xaxis.get_tick_params(), axes.yaxis.get_tick_params()
        assert shown[0]["labelbottom"]
        assert shown[1]["labelleft"]


def test_a_legend_that_stands_in_no_panel_goes_below_all_of_them(figure):
    one_column(figure)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not [axes for axes in figure.axes if axes.get_legend()]
    assert [text.get_text() for text in legend.get_texts()] == ["line 3"]
    assert legend.get_window_extent().y1 <= min(axes.get_tightbbox().y0 for axes in figure.axes)


def test_a_legend_that_leaves_room_stays_in_its_panel_and_a_wide_one_does_not():
    with drawing():
        figure, panels = plt.subplots(1, 2, figsize=(7, 3))
        for axes, name in zip(panels, ("short", "a name that is longer than half of a column"), strict=True):
            axes.plot([1, 2], label=name)
            axes.legend()
        one_column(figure)
    assert [axes.get_legend() is not None for axes in panels] == [True, False]
    assert len(figure.legends) == 1
    plt.close(figure)


def test_the_parts_of_a_figure_keep_their_order_and_have_the_height_of_their_panels():
    with drawing():
        figure = plt.figure(figsize=(7, 5))
        above, below = halves(figure)
        panels = [above.subplots(), *below.subplots(1, 2)]
        one_column(figure)
        figure.draw_without_rendering()
    bottoms = [axes.get_window_extent().y0 for axes in panels]
    assert bottoms == sorted(bottoms, reverse=True)
    heights = [axes.get_window_extent().height for axes in panels]
    assert heights == pytest.approx([heights[0]] * 3, rel=0.1)
    plt.close(figure)


def test_names_of_neighbours_are_turned_where_they_would_run_into_each_other():
    with drawing():
        figure, (many, few) = plt.subplots(1, 2, figsize=(7, 3))
        many.set_xticks(range(9), ["K = 1000\nkept"] * 9)
        few.set_xticks(range(2), ["1", "10"])
        one_column(figure)
        figure.draw_without_rendering()
    assert {label.get_rotation() for label in many.get_xticklabels()} == {90}
    assert {label.get_text() for label in many.get_xticklabels()} == {"K = 1000 kept"}
    assert {label.get_rotation() for label in few.get_xticklabels()} == {0}
    plt.close(figure)


def test_long_names_of_axes_are_broken_and_formulas_are_not():
    formula = "$" + " + ".join(["x"] * 30) + "$"
    with drawing():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
        left.set_xlabel("steps " * 12)
        right.set_xlabel(formula)
        one_column(figure)
    assert max(map(len, left.get_xlabel().split("\n"))) <= 48
    assert right.get_xlabel() == formula
    plt.close(figure)


def test_a_legend_of_lines_that_no_panel_has_keeps_them():
    with drawing():
        figure, axes = plt.subplots()
        axes.plot([1, 2], color="red")
        figure.legend(handles=[Line2D([], [], color="blue", label="made by hand")], loc="outside right upper")
        assert one_column(figure)
    (legend,) = figure.legends
    assert [line.get_color() for line in legend.get_lines()] == ["blue"]
    plt.close(figure)


@pytest.mark.parametrize("add", [lambda figure: None, lambda figure: figure.add_axes((0.1, 0.1, 0.8, 0.8))])
def test_panels_that_stand_in_no_grid_stay_where_they_are(add):
    figure = plt.figure(figsize=(7, 3))
    add(figure)
    assert not one_column(figure)
    plt.close(figure)


def test_a_large_grid_stays_one_picture():
    figure, _ = plt.subplots(2, 4, figsize=(7, 3))
    assert not one_column(figure)
    assert figure.get_figwidth() == 7
    plt.close(figure)


@pytest.mark.parametrize(("width", "lies_there", "shown"), [(500, True, True), (500, False, False), (900, True, False)])
def test_a_phone_shows_the_column_where_its_file_lies_beside_the_page(figure, tmp_path, width, lies_there, shown):
    (folder := tmp_path / "figures").mkdir()
    save_with_column(figure, folder / "x")
    page = tmp_path / "index.html"
    page.write_text(html("# T\n\n![what it shows](figures/x.svg)\n", folder))
    if not lies_there:
        (folder / f"x{COLUMN}").unlink()
    seen = dom(page.as_uri(), tmp_path, f"--window-size={width},900")
    assert ('<img alt="what it shows"' in seen) == shown
    assert ("<svg" in seen) != shown
