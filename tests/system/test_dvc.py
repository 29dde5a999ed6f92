"""docs/dvc.md, typed into a clone at the smoke preset, command after command; and what must hold after that."""

import math
import re

import pandas as pd
import pytest
import vl_convert
from dvc_render.vega import VegaRenderer
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

from iterlin_lab.figures.style import colour
from iterlin_lab.figures.vega import coloured
from iterlin_lab.report.names import label
from tests.browser import browse
from tests.clone import ROOT, SWEEP, Clone

DOCS = (ROOT / "docs/dvc.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", DOCS, re.DOTALL)
STEPS = [step.split("\n", 1) for block in BLOCKS for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
USER = {f"GIT_{role}_{name}": "t@t" for role in ("AUTHOR", "COMMITTER") for name in ("NAME", "EMAIL")}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("dvc") / "clone", "smoke", *SWEEP)
    clone.edit('{variants: ["0.5", pytorch], periods', '{variants: ["2"], periods')  # saves seconds
    clone.repro()
    clone.commit()
    return clone


@pytest.fixture(scope="module")
def printed():
    """What each command printed."""
    return {}


def runs(clone):
    return {path.name for path in (clone.folder / ".cache/runs").iterdir()}


@pytest.fixture(scope="module")
def first_runs(clone):
    return runs(clone)


def plain(text):
    """Without what differs from one machine or day to another: numbers, and the width of columns."""
    return re.sub(r"\s+", " ", re.sub(r"\d+", "0", text)).strip()


@pytest.mark.parametrize(("command", "shown"), STEPS, ids=[command for command, _ in STEPS])
def test_a_command_prints_what_the_docs_show(clone, first_runs, printed, command, shown):
    done = clone.run("bash", "-c", f"exec 2>&1; {command}", check=False, **USER)
    printed[command] = done.stdout
    assert (done.returncode != 0) == ("ERROR" in shown), done.stdout
    if "…" in shown:  # lines of a table come in any order
        assert not [part for part in shown.split("…") if plain(part) not in plain(done.stdout)], done.stdout
    else:
        assert plain(done.stdout) == plain(shown)


def test_nothing_was_trained_here_after_the_first_time(clone, first_runs, printed):
    ran = set(re.findall(r"Running stage '(\w+)@", printed["rm -rf results && dvc repro"]))
    assert ran <= {"check", "plots_page", "track", "track_report"}
    assert runs(clone) == first_runs


def test_the_settings_are_again_the_committed_ones(clone):
    assert clone.run("git", "status", "--short", "params.yaml", "dvc.lock", "reports").stdout == ""


@pytest.mark.parametrize(("folder", "cells"), [("clone", "1 10 100 inf nan"), ("other", "1 10 inf nan")])
def test_the_page_of_plots_needs_no_network(clone, tmp_path, folder, cells):
    page = clone.folder.parent / folder / "dvc_plots/index.html"
    text = page.read_text()
    assert "window.vegaEmbed=" in text
    without_code = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)=", without_code)

    picture = tmp_path / "page.png"
    window = ("--force-color-profile=srgb", "--window-size=1200,1000")
    browse(page.as_uri(), tmp_path, *window, f"--screenshot={picture}")
    seen = {pixel for _, pixel in Image.open(picture).convert("RGB").getcolors(2**24) or ()}
    expected = {cell: tuple(round(255 * part) for part in to_rgb(colour(float(cell)))) for cell in cells.split()}
    assert set(expected.values()) <= seen, expected


def test_each_k_is_drawn_in_the_colour_that_it_has_in_the_figures():
    periods = [1, 20, 100, 3e3, 1e8, math.inf, math.nan]  # whose order is not that of the alphabet
    table = pd.DataFrame({"K": [K for K in periods for _ in range(2)], "step": [0, 10] * len(periods)})
    table = table.assign(accuracy_mean=0.5, accuracy_low=0.4, accuracy_high=0.6)
    rows = coloured(table, "accuracy", "step").astype(str).assign(rev="HEAD").to_dict("records")
    for name, x in (("curves", "step"), ("cells", "label")):
        plot = VegaRenderer(rows, name, template=name, template_dir=str(ROOT / ".dvc/plots"), x=x, y="mean")
        svg = vl_convert.vegalite_to_svg(plot.get_filled_template())
        drawn = re.findall(r'aria-label="[^"]*label: ([^;"]*)[^>]*?(?:fill|stroke)="(#[0-9a-f]{6})"', svg)
        assert set(drawn) == {(label(K), to_hex(colour(K))) for K in periods}, name
