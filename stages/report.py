"""From tables and figures to one page."""

import json

from iterlin_lab.config import read_scale
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.outputs import markdown, read_tables
from iterlin_lab.report.page import html
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    data, regime, claims = (json.loads(path.read_text()) for path in (layout.data_card, layout.regime, layout.evidence))
    text = markdown(scale, data, regime, read_tables(layout), claims)
    write_text(layout.report / "REPORT.md", text)
    write_text(layout.report / "index.html", html(text, layout.figures))


if __name__ == "__main__":
    main()
