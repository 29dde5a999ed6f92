"""Show the report in MLflow, beside the results."""

from iterlin_lab.config import read_scale
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.mlflow.cells import find_results
from iterlin_lab.mlflow.place import failed_before
from iterlin_lab.mlflow.sync import sync
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    if not failed_before():  # the stage `track` has said so
        sync(scale)
    write_text(Layout(scale.name).tracked_report, find_results(scale).report_hash + "\n")


if __name__ == "__main__":
    main()
