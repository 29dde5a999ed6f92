"""The tables of L-LAZY."""

import numpy as np
import pandas as pd

from iterlin.config import Scale
from iterlin.layout import Layout
from iterlin.tables.summaries import interval

MEASURES = {"distance": "test_distance", "kernel": "kernel_movement"}


def tables(scale: Scale, layout: Layout) -> dict[str, pd.DataFrame]:
    """Both measures by γ and N; their exponents in N, by γ and run, and by γ; and the losses of the widest network."""
    folder = layout.results / "lazy_flow"
    runs, curves = pd.read_csv(folder / "runs.csv"), pd.read_csv(folder / "curves.csv")
    slopes = fitted(runs)
    widest = curves[curves["width"] == max(scale.lazy_flow.widths)]
    return {
        "lazy_flow": geometric(runs, ["exponent", "width"], MEASURES),
        "lazy_flow_slopes": slopes,
        "lazy_flow_fits": fits(slopes),
        "lazy_flow_curves": geometric(
            widest, ["exponent", "time"], {"network": "network_loss", "linear": "linear_loss"}
        ),
    }


def predicted(exponent: pd.Series) -> pd.Series:
    """The exponent in N of both measures for γ = N^−p: 2(p − 1). It is ours; L has none.

    At equal γ²Nt a weight moves by about δ = 1/(γN). What is of first order in δ in the kernel, and of second order in
    f, is odd in a, so that antisymmetric pairs cancel it. What is left of either is of order δ², relative to itself.
    """
    return 2 * (exponent - 1)


def geometric(table: pd.DataFrame, by: list[str], measures: dict[str, str]) -> pd.DataFrame:
    """Geometric means with the intervals of the mean logarithm."""
    rows = []
    for key, group in table.groupby(by):
        row = {**dict(zip(by, key, strict=True)), "runs": len(group)}
        for name, column in measures.items():
            found = interval(pd.Series(np.log(group[column])))
            row |= {f"{name}_{part}": float(np.exp(value)) for part, value in found.items()}
        rows.append(row)
    return pd.DataFrame(rows)


def fitted(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a γ and a run: the slopes of both measures in log N, by least squares in logarithms."""
    rows = []
    for (exponent, run), group in runs.groupby(["exponent", "run"]):
        row = {"cell": f"γ = N^−{exponent:g}", "exponent": exponent, "run": run}
        for name, column in MEASURES.items():
            row[name] = float(np.polyfit(np.log(group["width"]), np.log(group[column]), 1)[0])
        rows.append(row)
    return pd.DataFrame(rows)


def fits(slopes: pd.DataFrame) -> pd.DataFrame:
    """One row a γ: means with their intervals over runs, and what we expect."""
    rows = []
    for exponent, group in slopes.groupby("exponent"):
        row = {"exponent": exponent, "runs": len(group)}
        for name in MEASURES:
            row |= {f"{name}_{part}": value for part, value in interval(group[name]).items()}
        rows.append(row)
    table = pd.DataFrame(rows)
    return table.assign(predicted=predicted(table["exponent"]))
