"""The body of the report: experiments below what they argue about, with their verdicts and how to run them again."""

import re

import pytest
from ruamel.yaml import YAML

from iterlin_lab.claims.verdicts import VERDICTS
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.report.arguments import OTHERS, TITLES, again, body, verdicts
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.headings import anchors
from iterlin_lab.report.page import html
from tests.browser import dom
from tests.whole import scopes

SUPPORTED, CONTRADICTED, UNKNOWN, NONE = VERDICTS
SCALE = scopes("adam")["smoke"]
ADAM = EXPERIMENTS["adam"]
CLAIMS = {
    f"E-ADAM-{number}": {"statement": f"s{number}", "paper": "", "source": "T", "margin": 0.0, "verdict": verdict}
    | {"evidence": f"|{number}|"}
    for number, verdict in ((10, CONTRADICTED), (9, SUPPORTED), (1, SUPPORTED), (2, UNKNOWN), (3, NONE), (4, NONE))
}


class Written:
    """An experiment that says this of itself, and no more."""

    def __init__(self, argument, text):
        self.argument, self.text, self.families, self.ids = argument, text, (), ("E-X",)
        self.name, self.figures, self.stages = "adam", {}, lambda scale: ["train@x"]
        self.differs = f"{text[-1]} is small." if text else ""

    def section(self, scale, tables):
        return [self.text] if self.text else []


def test_sections_stand_a_level_lower_below_what_they_argue_about_in_its_order():
    found = [Written("lecture", "## L: l\n\n### More"), Written("updates", "## E: e"), Written("", "## M: m")]
    text = body(SCALE, [*found, Written("divergence", "")], {}, {})
    headings = re.findall(r"^#+ .*", text, re.MULTILINE)
    updates, lecture = (f"## {TITLES[name]}" for name in ("updates", "lecture"))
    assert headings == [updates, "### E: e", lecture, "### L: l", "#### More", f"## {OTHERS}", "### M: m"]
    assert "\n### M: m\n\n*Why it may differ.* m is small.\n\n<details>" in text
    assert anchors(text) == {"E": "#e-e", "L": "#l-l", "M": "#m-m"} | {
        "The lecture": "#the-lecture-linearised-networks"
    }


def test_every_experiment_that_the_report_has_argues_about_something():
    assert {one.argument for one in EXPERIMENTS.values() if one.module("section")} == set(TITLES)


def test_every_experiment_with_a_claim_of_a_source_says_why_it_may_differ():
    of_sources = [
        name
        for name, one in EXPERIMENTS.items()
        if any(claim.source[0] in "TWL" for family in one.families for claim in family.claims)
    ]
    assert [name for name in of_sources if not EXPERIMENTS[name].differs] == []
    assert len(of_sources) == 19


def test_an_experiment_has_its_verdicts_in_its_section():
    table = verdicts(ADAM, CLAIMS)
    assert [row.split("|")[1].strip() for row in table.splitlines()[2:]] == [f"E-ADAM-{i}" for i in (1, 2, 3, 4)]
    assert rf"**{UNKNOWN}**: \|2\|" in table
    assert verdicts(EXPERIMENTS["sensitivity"], CLAIMS) == ""


def test_an_experiment_says_how_to_run_it_again_with_which_settings_and_where_its_numbers_are():
    text = again(SCALE, ADAM, ["adam", "adam_runs", "adapt", "k_sweep"])
    assert "`make repro ONLY=adam` runs it (DVC stages: `train@smoke-adam`)" in text
    assert "[adam](tables/adam.csv), [adam_runs](tables/adam_runs.csv). Figures: [adam](figures/adam.svg)" in text
    assert "adapt" not in text
    (settings,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert type(SCALE.adam).model_validate(YAML(typ="safe").load(settings)["adam"]) == SCALE.adam


def test_of_many_stages_the_ends_are_named():
    assert "`sweep@smoke-k_sweep-1` to `sweep@smoke-k_sweep-inf`" in again(
        scopes("k_sweep")["smoke"], EXPERIMENTS["k_sweep"], []
    )


@pytest.mark.parametrize(
    ("asked", "shown", "pressed"),
    [
        ("", [10, 9, 1, 2, 3, 4], "all (6)"),
        ("verdict=supported", [9, 1], "supported (2)"),
        ("sort=id", [1, 2, 3, 4, 9, 10], "all (6)"),
        ("verdict=contradicted&sort=verdict", [10], "contradicted (1)"),
        ("verdict=unheard", [10, 9, 1, 2, 3, 4], "all (6)"),
    ],
)
def test_claims_are_sorted_and_filtered_on_the_page(tmp_path, asked, shown, pressed):
    page = tmp_path / "index.html"
    page.write_text(html(f"# T\n\n{claims_section('mine', CLAIMS, tmp_path / 'none.csv')}", tmp_path))
    seen = dom(f"{page.as_uri()}?{asked}", tmp_path)
    rows = re.findall(r"<tr( hidden=\"\")?>\s*<td[^>]*>E-ADAM-(\d+)<", seen)
    assert [int(number) for hidden, number in rows if not hidden] == shown
    found = re.findall(r'<button[^>]* aria-pressed="true"[^>]*>([^<]*)', seen)
    assert found == [pressed]
