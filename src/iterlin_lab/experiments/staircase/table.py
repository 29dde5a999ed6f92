"""The tables of L-KRR."""

import math

import pandas as pd

from iterlin_lab.experiments.staircase.settings import Scope, Staircase
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import means


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a kernel, d and n; a row a run of each; and the plateaus of l = 0, 1, …."""
    section, runs = scale.staircase, pd.read_csv(layout.results / "staircase" / "errors.csv")
    degrees = range(len(section.energies) + 1)
    return {
        "staircase": means(runs, ["kernel", "dimension", "exponent", "n"], "test_error"),
        "staircase_runs": with_gaps(section, runs),
        "staircase_plateaus": pd.DataFrame(
            {"degree": degrees, "plateau": [section.energy_above(degree) for degree in degrees]}
        ),
    }


def with_gaps(section: Staircase, runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the gap of their test error from the plateau ‖P_{>l} f*‖² of d^l ≤ n < d^(l+1)."""
    degree = runs["exponent"].map(math.floor)
    gap = runs["test_error"] - degree.map(section.energy_above)
    return runs.assign(degree=degree, gap=gap)
