"""From tables and figures to one page."""

import json

import pandas as pd

from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.report import html, markdown
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    tables = {path.stem: pd.read_csv(path, dtype={"cell": str}) for path in layout.tables.glob("*.csv")}
    data, regime, claims = (json.loads(path.read_text()) for path in (layout.data_card, layout.regime, layout.evidence))
    text = markdown(scale, data, regime, tables, claims)
    write_text(layout.report / "REPORT.md", text)
    write_text(layout.report / "index.html", html(text, layout.figures))


if __name__ == "__main__":
    main()
