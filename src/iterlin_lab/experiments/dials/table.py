"""The tables of E-DIALS."""

import math

import numpy as np
import pandas as pd

from iterlin_lab.experiments.dials.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups
from iterlin_lab.tables.summaries import means, outcomes

BY = ["dial", "value"]
MEASURES = ("accuracy", "kernel_distance", "alignment", "at_equal_movement")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a value of a dial, and a row a run."""
    runs = beside_K(converged(pd.read_csv(layout.results / "dials" / "runs.csv", dtype={"value": float})))
    return {"dials": _summary(runs), "dials_runs": runs}


def converged(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with the test `accuracy` at the end of the model that was trained, missing where it has not fitted.

    For K = ∞ that is the proxy, which takes all steps: a run ends early once the network fits.
    """
    lazy = (runs["dial"] == "K") & np.isinf(runs["value"])
    accuracy = runs["proxy_final"].where(lazy, runs["network_final"])
    known = (runs["outcome"] == "fitted") | (lazy & (runs["outcome"] == "step_limit"))
    return runs.assign(accuracy=accuracy.where(known))


def beside_K(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with `at_equal_movement`: their accuracy minus that of K where the kernel has moved as far, paired by run.

    Between two K the accuracy is interpolated over the kernel distance. Where a kernel has moved further than with any
    K of its draw, there is nothing to compare with, and it is missing.
    """
    found = []
    for _, own in groups(runs, ["run"]):
        K = own[(own["dial"] == "K") & own["accuracy"].notna()].sort_values("kernel_distance")
        x, y = K["kernel_distance"].to_numpy(), K["accuracy"].to_numpy()
        expected = np.interp(own["kernel_distance"], x, y, right=math.nan) if len(x) else math.nan
        found.append(own.assign(at_equal_movement=(own["accuracy"] - expected).where(own["dial"] != "K")))
    return pd.concat(found).sort_index()


def _summary(runs: pd.DataFrame) -> pd.DataFrame:
    """How the runs ended, and the means of what they reached."""
    rows = pd.DataFrame(
        row | outcomes(group) | {"compared": int(group["at_equal_movement"].count())} for row, group in groups(runs, BY)
    )
    return rows.merge(means(runs, BY, *MEASURES), on=BY)
