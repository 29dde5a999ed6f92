"""Show the results in MLflow, while figures and report are made."""

import json

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.runtime import begin_stage
from iterlin.tracking.cells import find_sweep
from iterlin.tracking.sync import sync


def main() -> None:
    scale, _ = begin_stage()
    sync(scale, report=False)
    shown = {cell.stage: cell.hash for cell in find_sweep(scale).cells}
    write_text(Layout(scale.name).tracked, json.dumps(shown, indent=2) + "\n")


if __name__ == "__main__":
    main()
