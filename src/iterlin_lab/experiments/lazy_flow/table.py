"""The tables of L-LAZY."""

import pandas as pd

from iterlin_lab.experiments.lazy_flow.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import exponents, geometric_means, means

MEASURES = {"distance": "test_distance", "kernel": "kernel_movement"}
LOSSES = {"network": "network_loss", "linear": "linear_loss"}


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Both measures by γ and N; their exponents in N, by γ and run, and by γ; and the losses of the widest network."""
    folder = layout.results / "lazy_flow"
    runs, curves = pd.read_csv(folder / "runs.csv"), pd.read_csv(folder / "curves.csv")
    slopes = fitted(runs)
    widest = curves[curves["width"] == max(scale.lazy_flow.widths)]
    return {
        "lazy_flow": geometric_means(named(runs, MEASURES), ["exponent", "width"], *MEASURES),
        "lazy_flow_slopes": slopes,
        "lazy_flow_fits": fits(slopes),
        "lazy_flow_curves": geometric_means(named(widest, LOSSES), ["exponent", "time"], *LOSSES),
    }


def named(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """The table with these names for its columns."""
    return table.rename(columns={column: name for name, column in names.items()})


def predicted(exponent: pd.Series) -> pd.Series:
    """The exponent in N of both measures for γ = N^−p: 2(p − 1). It is ours; L has none.

    At equal γ²Nt a weight moves by about δ = 1/(γN). What is of first order in δ in the kernel, and of second order in
    f, is odd in a, so that antisymmetric pairs cancel it. What is left of either is of order δ², relative to itself.
    """
    return 2 * (exponent - 1)


def fitted(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a γ and a run: the slopes of both measures in log N, by least squares in logarithms."""
    slopes = {name: exponents(runs, ["exponent", "run"], "width", column) for name, column in MEASURES.items()}
    return pd.DataFrame(slopes).reset_index()


def fits(slopes: pd.DataFrame) -> pd.DataFrame:
    """One row a γ: means with their intervals over runs, and what we expect."""
    table = means(slopes, ["exponent"], *MEASURES)
    return table.assign(predicted=predicted(table["exponent"]))
