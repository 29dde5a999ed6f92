"""Show the report in MLflow, beside the results."""

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.runtime import begin_stage
from iterlin.tracking.cells import find_sweep
from iterlin.tracking.sync import sync


def main() -> None:
    scale, _ = begin_stage()
    sync(scale)
    write_text(Layout(scale.name).tracked_report, find_sweep(scale).report_hash + "\n")


if __name__ == "__main__":
    main()
