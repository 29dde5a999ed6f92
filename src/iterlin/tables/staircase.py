"""The tables of L-KRR."""

import math

import pandas as pd

from iterlin.config import Scale
from iterlin.layout import Layout
from iterlin.settings import Staircase
from iterlin.tables.summaries import interval

MIDDLE = 0.5  # of a plateau, in log n / log d


def tables(scale: Scale, layout: Layout) -> dict[str, pd.DataFrame]:
    """A row a kernel, d and n; the runs in the middle of every plateau; and the plateaus of l = 0, 1, …."""
    section, runs = scale.staircase, pd.read_csv(layout.results / "staircase.csv")
    degrees = range(len(section.energies) + 1)
    return {
        "staircase": summary(runs),
        "staircase_runs": in_the_middle(section, runs),
        "staircase_plateaus": pd.DataFrame(
            {"degree": degrees, "plateau": [section.energy_above(degree) for degree in degrees]}
        ),
    }


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and interval of the test error over runs."""
    rows = []
    for (kernel, dimension, exponent, n), group in runs.groupby(["kernel", "dimension", "exponent", "n"]):
        row = {"kernel": kernel, "dimension": dimension, "exponent": exponent, "n": n, "runs": len(group)}
        rows.append(row | {f"test_error_{part}": value for part, value in interval(group["test_error"]).items()})
    return pd.DataFrame(rows)


def in_the_middle(section: Staircase, runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with n = d^(l + ½), and the gap of their test error from the plateau ‖P_{>l} f*‖²."""
    middle = runs[runs["exponent"] % 1 == MIDDLE]
    degree = middle["exponent"].map(math.floor)
    gap = middle["test_error"] - degree.map(section.energy_above)
    cell = middle["kernel"] + ", d = " + middle["dimension"].astype(str) + ", l = " + degree.astype(str)
    return middle.assign(cell=cell, degree=degree, gap=gap)
