"""From the experiments that params.yaml asks for to tables, verdicts and the report."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from iterlin_lab.claims.verdicts import judge_all
from iterlin_lab.experiments import chosen
from iterlin_lab.layout import Layout
from iterlin_lab.report.answer import opening
from iterlin_lab.report.arguments import body
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.headings import anchors
from iterlin_lab.report.method import METHOD, VALIDITY
from iterlin_lab.report.names import typeset
from iterlin_lab.report.setting import in_one_line, setting

Tables = Mapping[str, pd.DataFrame]


def read_tables(layout: Layout) -> dict[str, pd.DataFrame]:
    """The tables as they were written."""
    return {path.stem: pd.read_csv(path) for path in layout.tables.glob("*.csv")}


def verdicts(scale: Any, tables: Tables) -> dict[str, dict[str, Any]]:
    """By the ids of the claims, what was judged."""
    ordered = sorted(chosen(scale), key=lambda experiment: experiment.claims_order or experiment.order)
    families = [family for experiment in ordered for family in experiment.families]
    return {row.pop("id"): row for row in judge_all(families, tables)}


def markdown(scale: Any, data: dict, regime: dict, tables: Tables, claims: dict[str, dict]) -> str:
    """The text of the report."""
    experiments = chosen(scale)
    solver = "".join(experiment.training(scale, regime) for experiment in experiments)
    answers = [answer for experiment in experiments for answer in experiment.answer(scale, tables, claims)]
    sections = body(scale, experiments, tables, claims)
    parts = [
        f"# Iterative linearisation: the `{scale.name}` scale",
        opening(answers, in_one_line(scale, data), claims),
        METHOD,
        setting(scale, data, regime, solver, tables),
        claims_section(scale.name, claims, Layout(scale.name).history, anchors(sections)),
        sections,
        VALIDITY,
    ]
    return typeset("\n\n".join(parts)) + "\n"
