"""The tables of E-DAMP1D."""

import numpy as np
import pandas as pd

from iterlin_lab.data.quintic import points
from iterlin_lab.experiments.damp1d.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups
from iterlin_lab.tables.summaries import intervals

DRAWN_POINTS = 200  # of a function
MEASURED = ("train_rmse", "test_rmse", "roughness")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """All runs, a summary of each way to damp, the functions that are drawn, and the points that they are fitted to."""
    folder = layout.results / "damp1d"
    runs, drawn = (pd.read_csv(folder / f"{name}.csv").drop(columns="cell") for name in ("runs", "drawn"))
    x, y = points(scale.damp1d.num_train)
    thin = drawn.groupby(["damping", "run"], sort=False).cumcount() % -(-scale.damp1d.num_test // DRAWN_POINTS) == 0
    return {
        "damp1d": summary(runs),
        "damp1d_runs": runs,
        "damp1d_drawn": drawn[thin.to_numpy()],
        "damp1d_points": pd.DataFrame({"x": x[:, 0], "y": y[:, 0]}),
    }


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a way to damp: λ, and the part of each step that is taken, for each number of hidden layers.

    Means are over the runs that have not failed, as in T fig. 9. Quantiles are over all runs, of which those that have
    failed count as worse than any other.
    """
    rows = []
    for row, group in groups(runs, ["depth", "damping", "step_size"]):
        kept = group[~group["failed"]]
        censored = group["test_rmse"].where(~group["failed"], np.inf)
        row |= {
            "runs": len(group),
            "failed": int(group["failed"].sum()),
            "diverged": int((group["outcome"] == "diverged").sum()),
        }
        row |= intervals(kept, *MEASURED) | {f"median_{name}": float(kept[name].median()) for name in MEASURED}
        row |= {"best": float(kept["test_rmse"].min()), "quantile_95": float(quantile(censored, 0.95))}
        rows.append(row)
    return pd.DataFrame(rows)


def quantile(values: pd.Series, share: float) -> float:
    """The smallest value that this share of them does not exceed: unlike an interpolated one, it may be infinite."""
    return float(np.quantile(values, share, method="inverted_cdf"))
