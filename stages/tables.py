"""From results to the tables that figures and report read."""

import json

import pandas as pd

from iterlin.files import whole_folder, write_text
from iterlin.layout import Layout
from iterlin.results import read_cells
from iterlin.runtime import begin_stage
from iterlin.tables import ACCURACIES, diverged_runs, flow_errors, mean_curves, summarise


def main() -> None:
    scale, _ = begin_stage()
    layout, periods, axes = Layout(scale.name), scale.k_sweep.periods, scale.sensitivity

    def sweep(table: str) -> pd.DataFrame:
        tgn = read_cells(layout.results, ["tgn"], table)
        return pd.concat([read_cells(layout.results / "k_sweep", periods, table), tgn], ignore_index=True)

    runs = sweep("runs")
    summary = summarise(runs, reference=runs[runs["cell"] == "1"])
    own = runs[runs["cell"].isin(axes.periods) & (runs["run"] < axes.num_seeds)]
    around = {"1": own} | {
        factor: read_cells(layout.results / "sensitivity" / factor, axes.periods, "runs") for factor in axes.factors
    }
    sensitivity = [
        summarise(around[factor], reference=around[factor].query("cell == '1'")).assign(factor=factor)
        for factor in sorted(around, key=float)
    ]

    tables = {
        "k_sweep": summary,
        "k_sweep_runs": runs,
        "k_sweep_curves": mean_curves(sweep("curves")),
        "sensitivity": pd.concat(sensitivity),
        "diverged": diverged_runs({**around, "1": runs}),
        "flow_check": flow_errors(pd.read_csv(layout.results / "flow_check.csv")),
    }
    with whole_folder(layout.tables) as folder:
        for name, table in tables.items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    metrics = {row["cell"]: {name: row[f"{name}_mean"] for name in ACCURACIES} for _, row in summary.iterrows()}
    write_text(layout.report / "metrics.json", json.dumps({"test_accuracy": metrics}, indent=2) + "\n")


if __name__ == "__main__":
    main()
