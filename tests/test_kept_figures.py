"""A figure is drawn anew where one of its tables, its files or the code changed, and taken from before otherwise."""

import os
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from iterlin_lab.figures import kept
from iterlin_lab.figures.style import drawing
from tests.clone import ROOT


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept, "CODE", ("iterlin_lab/figures",))
    folder = tmp_path / "tables"
    folder.mkdir()
    for name in ("read", "other"):
        pd.DataFrame({"x": [1, 2], "y": [3, 4]}).to_csv(folder / f"{name}.csv", index=False)
    with drawing():
        yield folder


def draw(tables):
    figure, axes = plt.subplots()
    axes.plot(tables["read"]["x"], tables["read"]["y"])
    axes.set_title("more" if "more" in tables else "")
    return figure


def drawn(tables, where="one"):
    folder = tables.parent / where
    folder.mkdir(exist_ok=True)
    again = kept.draw_figures(folder, {"figure": draw}, tables)
    return bool(again), {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_is_drawn_once_and_then_has_the_same_bytes(tables):
    new, files = drawn(tables)
    assert new
    assert files.keys() == {"figure.svg", "figure.png", "figure_column.svg"}
    assert drawn(tables, "two") == (False, files)


def test_a_table_that_it_does_not_read_changes_nothing(tables):
    drawn(tables)
    (tables / "other.csv").write_text("x,y\n5,6\n")
    assert not drawn(tables)[0]


def test_a_table_that_it_reads_changes_it(tables):
    _, before = drawn(tables)
    (tables / "read.csv").write_text("x,y\n5,6\n7,9\n")
    new, after = drawn(tables)
    assert new
    assert after["figure.svg"] != before["figure.svg"]


def test_a_table_that_it_has_looked_for_counts_once_it_is_there(tables):
    _, before = drawn(tables)
    (tables / "more.csv").write_text("x\n1\n")
    new, after = drawn(tables)
    assert new
    assert after["figure.svg"] != before["figure.svg"]


SIDE_BY_SIDE = """
import sys
from pathlib import Path
from iterlin_lab.figures import kept
from iterlin_lab.figures.style import drawing
from tests.test_kept_figures import draw
names, folder, tables = sys.argv[1].split(), Path("many"), Path("tables")
folder.mkdir(exist_ok=True)
with drawing():
    for _ in range(2):
        print(kept.draw_figures(folder, {name: draw if name != "broken" else {}.__getitem__ for name in names}, tables))
"""


def side_by_side(tables, names):
    """What a process without jax draws twice, for one with jax must not be forked."""
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    command = [sys.executable, "-c", SIDE_BY_SIDE, names]
    env = os.environ | {"PYTHONPATH": path, "ITERLIN_WORKERS": "3"}
    return subprocess.run(command, cwd=tables.parent, env=env, capture_output=True, text=True)


def test_several_at_once_have_the_same_bytes(tables):
    _, alone = drawn(tables)
    shutil.rmtree(kept.KEPT)
    done = side_by_side(tables, "figure a b c d")
    assert done.stdout == "['figure', 'a', 'b', 'c', 'd']\n[]\n", done.stderr
    assert {path.name: path.read_bytes() for path in (tables.parent / "many").glob("figure*")} == alone
    assert {path.stem for path in (tables.parent / "many").glob("*.png")} == {"figure", *"abcd"}


def test_one_that_cannot_be_drawn_ends_all_and_the_others_are_kept(tables):
    done = side_by_side(tables, "figure broken")
    assert done.returncode == 1
    assert done.stderr.endswith("not all figures could be drawn\n")
    assert "Traceback" in done.stderr
    assert side_by_side(tables, "figure").stdout == "[]\n[]\n"


def test_other_code_and_a_damaged_file_draw_it_anew(tables, monkeypatch):
    _, before = drawn(tables)
    monkeypatch.setattr(kept, "CODE", ("iterlin_lab/tables",))
    assert drawn(tables) == (True, before)
    path = kept.KEPT / "figure/figure.svg"
    path.write_bytes(path.read_bytes()[:-1])
    assert drawn(tables) == (True, before)


def test_all_tables_count_for_one_that_goes_through_them(tables):
    found = kept.Tables(tables)
    assert found.asked == set()
    assert sorted(found) == ["other", "read"]
    assert found.asked == {"other", "read"}
