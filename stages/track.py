"""Show the results in MLflow, while figures and report are made."""

import json

from iterlin_lab.config import read_scale
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.mlflow.cells import find_results
from iterlin_lab.mlflow.sync import sync
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    sync(scale, report=False)
    shown = {cell.stage: cell.hash for cell in find_results(scale).cells}
    write_text(Layout(scale.name).tracked, json.dumps(shown, indent=2) + "\n")


if __name__ == "__main__":
    main()
