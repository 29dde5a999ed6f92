"""From results to the tables that figures and report read."""

import json

from iterlin_lab.experiments import chosen
from iterlin_lab.files import whole_folder, write_text
from iterlin_lab.layout import Layout
from iterlin_lab.stage import begin_stage


def main() -> None:
    scale, *_ = begin_stage()
    layout, tables, metrics = Layout(scale.name), {}, {}
    for experiment in chosen(scale):
        tables |= experiment.tables(scale)
        metrics |= experiment.metrics(tables)
    with whole_folder(layout.tables) as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    write_text(layout.report / "metrics.json", json.dumps(metrics, indent=2) + "\n")


if __name__ == "__main__":
    main()
