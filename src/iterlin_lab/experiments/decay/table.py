"""The tables of L-DECAY."""

import pandas as pd

from iterlin_lab.experiments.decay.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables import groups
from iterlin_lab.tables.summaries import intervals

LINEARISED = "linearised"
BY = ["method", "exponent", "size"]


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """How trajectories keep to the bound, by kind and number of examples; all of them; and their losses."""
    folder = layout.results / "decay"
    runs, curves = (named(pd.read_csv(folder / f"{name}.csv")) for name in ("runs", "curves"))
    runs = located(runs)
    return {
        "decay": summarise(runs),
        "decay_runs": runs,
        "decay_curves": scaled(curves, runs),
    }


def named(table: pd.DataFrame) -> pd.DataFrame:
    """The table with p of γ = N^−p, in place of the name of a trajectory; f_lin is the same for all p."""
    exponent = pd.to_numeric(table["cell"].str.removeprefix("γ = N^−"), errors="coerce")
    method = table["cell"].where(exponent.isna(), "network")
    return table.drop(columns="cell").assign(method=method, exponent=exponent)


def located(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the rate that theory has for f_lin, and the measured one over it where that is f_lin's.

    The network's own rate follows its kernel, and may be so high that the loss ends in rounding.
    """
    expected = 2 * runs["initial"]
    linear = runs["method"] == LINEARISED
    return runs.assign(expected=expected, ratio=(runs["rate"] / expected).where(linear))


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a kind of trajectory and a number of examples."""
    rows = []
    for row, group in groups(runs, BY):
        row |= {"runs": len(group), "violated": int((group["excess"] > 0).sum())}
        row |= {"largest_excess": group["excess"].max(), "median_expected": group["expected"].median()}
        row["smallest_ratio"] = (group["smallest"] / group["initial"]).min()
        rows.append(row | intervals(group, "ratio"))
    return pd.DataFrame(rows)


def scaled(curves: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The losses against 2λt, with the bound's λ of each trajectory."""
    key = [*BY, "run"]
    table = curves[[*key, "time", "log_loss"]].merge(runs[[*key, "smallest"]].rename(columns={"smallest": "rate"}))
    return table.assign(scaled_time=2 * table["rate"] * table["time"])[[*key, "scaled_time", "log_loss"]]
