"""The tables of E-XOR."""

from typing import Any

import numpy as np
import pandas as pd

from iterlin_lab.experiments.xor.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import intervals, outcomes

QUANTITIES = (
    "alignment",
    "network_test_accuracy",
    "proxy_test_accuracy",
    "network_test_rmse",
    "train_rmse",
    "distance",
)
SHOWN = 0  # the run whose features are drawn


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """The runs, a row a cell, the features of one run, and how the dials map on each other."""
    folder = layout.results / "xor"
    runs, features = (pd.read_csv(folder / f"{name}.csv", dtype={"cell": str}) for name in ("runs", "features"))
    cells = summarise(runs, scale.xor.num_train)
    return {
        "xor": cells,
        "xor_runs": runs,
        "xor_features": features[features["run"] == SHOWN],
    }


def summarise(runs: pd.DataFrame, num_train: int) -> pd.DataFrame:
    """One row a cell of a dial: how its runs ended, and means with 95 % t-intervals.

    T's λ belongs to the sum of the squared errors: λ_T = 2nλ (see `Problem`).
    """
    rows = []
    for _, group in runs.groupby(["dial", "cell"], sort=False):
        dial, cell = group[["dial", "cell"]].iloc[0]
        row: dict[str, Any] = {"dial": dial, "cell": cell, "value": float(cell)}
        row["lambda_of_T"] = 2 * num_train * float(cell) if dial == "λ" else np.nan
        row["runs"] = len(group)
        row |= outcomes(group)
        row |= {f"median_{name}": float(group[name].median()) for name in ("steps", "feature_updates")}
        row["no_direction"] = int(group["no_direction"].sum())
        row["alignment_initial"] = float(group["alignment_initial"].mean())
        rows.append(row | intervals(group, *QUANTITIES))
    return pd.DataFrame(rows)
