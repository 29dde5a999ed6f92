"""From tables to verdicts on the claims of the sources."""

import json

import pandas as pd

from iterlin.claims import CLAIMS, judge
from iterlin.layout import Layout
from iterlin.results import write_text
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    runs = pd.read_csv(layout.tables / "k_sweep_runs.csv", dtype={"cell": str})
    rows = judge(CLAIMS["E-SWEEP"], runs)
    verdicts = {row.pop("id"): row for row in rows}
    write_text(layout.claims, json.dumps(verdicts, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
