"""From results to the tables that figures and report read."""

import json

from iterlin_lab.files import whole_folder, write_text
from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage
from iterlin_lab.tables import ACCURACIES, TABLES


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    tables = {name: table for make in TABLES for name, table in make(scale, layout).items()}
    with whole_folder(layout.tables) as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    rows = tables["k_sweep"].iterrows()
    metrics = {row["cell"]: {name: row[f"{name}_mean"] for name in ACCURACIES} for _, row in rows}
    write_text(layout.report / "metrics.json", json.dumps({"test_accuracy": metrics}, indent=2) + "\n")


if __name__ == "__main__":
    main()
