"""The reports of several scales beside each other."""

import json

import pytest

from iterlin_lab.claims.verdicts import VERDICTS
from iterlin_lab.config import load
from iterlin_lab.report.page import html
from iterlin_lab.report.scales import beside
from tests.clone import ROOT

YES, NO, UNKNOWN, NONE = VERDICTS
PRESETS = load(ROOT / "params.yaml").presets


def write(folder, **verdicts):
    """A report in which claims, whose ids end with these names, have these verdicts."""
    folder.mkdir()
    claims = {
        f"E-{name}": {
            "verdict": verdict,
            "statement": f"{name} holds.",
            "source": "T §1",
            "evidence": f"|{folder.name}|",
        }
        for name, verdict in verdicts.items()
    }
    (folder / "evidence.json").write_text(json.dumps(claims))


def test_claims_that_two_scales_have_tested_are_beside_each_other(tmp_path):
    write(tmp_path / "smoke", A=YES, B=YES, C=UNKNOWN, D=NONE, F=YES)
    write(tmp_path / "laptop", A=YES, B=NO, C=YES, D=YES, G=NO)
    write(tmp_path / "widths", I=NONE, H=YES)
    write(tmp_path / "other", A=YES)  # of which params.yaml knows nothing any more
    text = beside(PRESETS, tmp_path)
    head, table = text.split("## Claims at several scales")
    counts = [line.split("|")[3:7] for line in head.splitlines() if "REPORT.md" in line]
    assert [list(map(int, row)) for row in counts] == [[3, 0, 1, 1], [3, 2, 0, 0], [1, 0, 0, 1]]
    assert "150 training examples of `digits` of 8×8 pixels" in head
    assert "1 of 3 verdicts are the same wherever the claim was tested." in table
    assert "Supported at one scale and contradicted at another: E-B." in table
    (row,) = (line for line in table.splitlines() if line.startswith("| E-C"))
    assert r"| **inconclusive**: \|smoke\|" in row
    assert r"| **supported**: \|laptop\|" in row
    assert "widths" not in table
    assert not {"E-D", "E-F", "E-G"} & {line.split()[1] for line in table.splitlines() if line.startswith("| E")}


def test_one_report_is_compared_with_none_and_no_report_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"no report is in .*: run the pipeline first"):
        beside(PRESETS, tmp_path)
    write(tmp_path / "smoke", A=YES)
    assert "Claims at several scales" not in beside(PRESETS, tmp_path)


def test_the_committed_page_is_that_of_the_committed_reports():
    text = beside(PRESETS, ROOT / "reports")
    assert (ROOT / "reports/README.md").read_text(encoding="utf-8") == text
    page = html(text.replace("REPORT.md", "index.html"), ROOT / "reports")
    assert (ROOT / "reports/index.html").read_text(encoding="utf-8") == page


def test_the_readme_counts_the_verdicts_of_the_report():
    verdicts = json.loads((ROOT / "reports/laptop/claims.json").read_text())["verdict"].values()
    counts = ", ".join(f"{sum(verdict == one for verdict in verdicts)} {one}" for one in VERDICTS)
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"{len(verdicts)} claims: {counts.removesuffix(' at this scale')}" in text
