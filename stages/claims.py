"""From tables to verdicts on the claims of the sources."""

import json

from iterlin_lab.config import read_scale
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.outputs import read_tables, verdicts
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout = Layout(scale.name)
    claims = verdicts(scale, read_tables(layout))
    short = {"verdict": {name: row["verdict"] for name, row in claims.items()}}  # enough for DVC's metrics
    for path, content in ((layout.evidence, claims), (layout.claims, short)):
        write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
