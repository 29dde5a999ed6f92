"""The tables of L-KERNEL."""

import numpy as np
import pandas as pd

from iterlin.config import Scale
from iterlin.layout import Layout
from iterlin.tables.summaries import interval


def tables(scale: Scale, layout: Layout) -> dict[str, pd.DataFrame]:
    """The errors, a row a point; the exponents of every run; and their means."""
    runs = pd.read_csv(layout.results / "kernel_limit.csv")
    exponents = fitted(runs)
    return {
        "kernel_limit": summarise(runs),
        "kernel_limit_exponents": exponents,
        "kernel_limit_fits": fits(exponents),
    }


def bound(points: pd.DataFrame) -> pd.Series:
    """The square of the bound, without its constant, by rows: (n + d)/(Nd) for NT (L theorem 2), and n/N for RF.

    The lecture says that RF is similar. Its kernel sums one number squared a neuron, not d of them, so matrix
    Bernstein's inequality gives n/N.
    """
    n, d = points["n"], points["d"]
    return (n / points["N"]).where(points["kernel"] == "RF", (n + d) / (points["N"] * d))


def bernstein(points: pd.DataFrame) -> pd.Series:
    """The same with log 2n, the factor of matrix Bernstein's inequality that Õ leaves out."""
    return bound(points) * np.log(2 * points["n"])


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a kernel and a pair of n and N: mean error with its interval, and √`bound`."""
    rows = []
    for keys, group in runs.groupby(["kernel", "varied", "n", "N", "d"]):
        row = dict(zip(("kernel", "varied", "n", "N", "d"), keys, strict=True)) | {"runs": len(group)}
        rows.append(row | {f"error_{part}": value for part, value in interval(group["error"]).items()})
    table = pd.DataFrame(rows)
    return table.assign(bound=np.sqrt(bound(table)))


def fitted(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a kernel, what varies and a run: slopes of the log error by least squares.

    `exponent` is in log N where N varies, and in the log of the squared bound where n does; `with_log` is in that of
    `bernstein`. `constant` is the geometric mean of error over bound.
    """
    rows = []
    for (kernel, varied, run), group in runs.groupby(["kernel", "varied", "run"]):
        error = np.log(group["error"])
        exact, logarithmic = np.log(bound(group)), np.log(bernstein(group))
        row = {"cell": f"{kernel}, {varied}", "kernel": kernel, "varied": varied, "run": run}
        row["exponent"] = _slope(np.log(group["N"]) if varied == "N" else exact, error)
        row["with_log"] = _slope(logarithmic, error) if varied == "n" else np.nan
        row["constant"] = float(np.exp((error - exact / 2).mean()))
        rows.append(row)
    return pd.DataFrame(rows)


def fits(exponents: pd.DataFrame) -> pd.DataFrame:
    """One row a kernel and what varies: means with their intervals over runs."""
    rows = []
    for (kernel, varied), group in exponents.groupby(["kernel", "varied"]):
        row = {"kernel": kernel, "varied": varied, "runs": len(group)}
        for name in ("exponent", "with_log", "constant"):
            row |= {f"{name}_{part}": value for part, value in interval(group[name]).items()}
        rows.append(row)
    return pd.DataFrame(rows)


def _slope(x, y) -> float:
    return float(np.polyfit(x, y, 1)[0])
