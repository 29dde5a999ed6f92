"""The tables of E-XOR."""

import pandas as pd

from iterlin_lab.experiments.xor.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups
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
    """A row a K or λ, the runs, and the features of one run, trained and before that, where both are missing."""
    folder = layout.results / "xor"
    runs, features = (numbered(pd.read_csv(folder / f"{name}.csv")) for name in ("runs", "features"))
    return {
        "xor": summarise(runs, scale.xor.num_train),
        "xor_runs": runs,
        "xor_features": features[features["run"] == SHOWN],
    }


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the value of its dial in the column `K` or `damping`."""
    value = pd.to_numeric(table["cell"], errors="coerce")
    dials = {"K": value.where(table["dial"] == "K"), "damping": value.where(table["dial"] == "λ")}
    return pd.concat([pd.DataFrame(dials), table.drop(columns=["dial", "cell"])], axis=1)


def summarise(runs: pd.DataFrame, num_train: int) -> pd.DataFrame:
    """One row a K or λ: how its runs ended, and means with 95 % t-intervals.

    T's λ belongs to the sum of the squared errors: λ_T = 2nλ (see `Problem`).
    """
    rows = []
    for row, group in groups(runs, ["K", "damping"]):
        row |= {"lambda_of_T": 2 * num_train * row["damping"], "runs": len(group)} | outcomes(group)
        row |= {f"median_{name}": float(group[name].median()) for name in ("steps", "feature_updates")}
        row["no_direction"] = int(group["no_direction"].sum())
        row["alignment_initial"] = float(group["alignment_initial"].mean())
        rows.append(row | intervals(group, *QUANTITIES))
    return pd.DataFrame(rows)
