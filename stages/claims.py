"""From tables to verdicts on the claims of the sources."""

import json

import pandas as pd

from iterlin_lab.claims import CLAIMS, judge
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    claims = {}
    for table, statements in CLAIMS.values():
        rows = judge(statements, pd.read_csv(layout.tables / f"{table}.csv", dtype={"cell": str}))
        claims |= {row.pop("id"): row for row in rows}
    verdicts = {"verdict": {name: row["verdict"] for name, row in claims.items()}}  # short enough to be DVC's metrics
    for path, content in ((layout.evidence, claims), (layout.claims, verdicts)):
        write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
