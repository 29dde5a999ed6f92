"""From results to the tables that figures and report read."""

import json

from iterlin_lab.config import read_scale
from iterlin_lab.experiments import chosen
from iterlin_lab.files import whole_folder, write_text
from iterlin_lab.layout import Layout
from iterlin_lab.runs.stage import begin_stage
from iterlin_lab.tables.cells import write


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    layout, tables, metrics = Layout(scale.name), {}, {}
    for experiment in chosen(scale):
        tables |= experiment.tables(scale)
        metrics |= experiment.metrics(tables)
    with whole_folder(layout.tables) as folder:
        for name, table in tables.items():
            write(table, folder / f"{name}.csv")
    write_text(layout.report / "metrics.json", json.dumps(metrics, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
