"""The page on an experiment of one's own, followed to the letter."""

import re

import pandas as pd
import pytest

from tests.clone import ROOT, Clone

PAGE = (ROOT / "docs/own-experiment.md").read_text()
FILES = re.findall(r"^`(src/\S+\.py)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CHANGE = re.search(r"`(src/\S+\.py)`:\n\n```diff\n (.*?)\n\+(.*?)\n```", PAGE)
PRESET = re.search(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("own"), "smoke")
    for name, text in FILES:
        path = clone.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert CHANGE
    assert PRESET
    name, line, added = CHANGE.groups()
    exports = (clone.folder / name).read_text()
    assert exports.count(line) == 1
    (clone.folder / name).write_text(exports.replace(line, f"{line}\n{added}"))
    clone.choose("\n" + PRESET[1])
    clone.run("iterlin", "repro")
    return clone


def test_the_page_has_all_files():
    assert len(FILES) == 10


def test_every_k_is_trained_and_judged(clone):
    table = pd.read_csv(clone.folder / "reports/mine/tables/momentum_sweep.csv")
    assert table["K"].tolist() == [1, 10, 100]
    assert (table["runs"] == 5).all()
    assert (table["network_final_mean"] > 0.3).all()  # ten classes
    report = (clone.folder / "reports/mine/REPORT.md").read_text()
    assert "300 steps of gradient descent with momentum with η = 0.01" in report
    assert "E-MOMENTUM-1" in report
    assert (clone.folder / "reports/mine/figures/momentum_sweep.svg").exists()


def test_another_k_trains_that_k_alone(clone):
    clone.edit(
        'periods: ["1", "10", "100"]\n      num_seeds: 5', 'periods: ["1", "10", "100", "inf"]\n      num_seeds: 5'
    )
    kept = {path.name for path in (clone.folder / ".cache/runs").iterdir()}
    clone.run("iterlin", "repro", "momentum_sweep")
    now = {path.name for path in (clone.folder / ".cache/runs").iterdir()}
    assert kept < now
    assert len(now - kept) == 5


def test_the_project_s_own_rules_hold_for_the_new_files(clone):
    rules = [f"tests/test_{name}.py" for name in ("contract", "presets", "floors")]
    said = clone.run("pytest", "-q", "-n0", "-p", "no:cacheprovider", *rules).stdout
    assert re.search(r"^\d{3} passed in ", said, re.MULTILINE), said
