"""The tables of L-KERNEL."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.kernel_limit.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import exponents, means

FITTED = ("exponent", "corrected", "with_log", "constant")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """The errors, a row a point; the exponents of every run; and their means."""
    runs = pd.read_csv(layout.results / "kernel_limit" / "errors.csv")
    fits = fitted(runs)
    return {
        "kernel_limit": summarise(runs),
        "kernel_limit_exponents": fits,
        "kernel_limit_fits": means(fits, ["kernel", "varied"], *FITTED),
    }


def bound(points: pd.DataFrame) -> pd.Series:
    """The square of the bound, without its constant, by rows: (n + d)/(Nd) for NT (L theorem 2), and n/N for RF.

    The lecture says that RF is similar. Its kernel sums one number squared a neuron, not d of them, so matrix
    Bernstein's inequality gives n/N.
    """
    n, d = points["n"], points["d"]
    return (n / points["N"]).where(points["kernel"] == "RF", (n + d) / (points["N"] * d))


def bernstein(points: pd.DataFrame) -> pd.Series:
    """The squared bound with log 2n, the factor of matrix Bernstein's inequality that Õ leaves out."""
    return bound(points) * np.log(2 * points["n"])


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a kernel and a pair of n and N: mean error with its interval, and √`bound`."""
    table = means(runs, ["kernel", "varied", "n", "N", "d"], "error")
    return table.assign(bound=np.sqrt(bound(table)))


def fitted(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a kernel, what varies and a run: slopes of the log error by least squares.

    `exponent` is in log N where N varies, and in the log of the squared bound where n does; `with_log` is in that of
    `bernstein`. `constant` is the geometric mean of error over bound.

    `corrected` is in log N, of √(1 + error) − 1. For whitened sums of N independent terms the largest eigenvalue tends
    to (1 + √y)² with y ∝ 1/N (Marchenko and Pastur), so that the error is 2√y + y: steeper than N^(−½) at finite N,
    while √(1 + error) − 1 = √y is not.
    """
    by = ["kernel", "varied", "run"]
    points = runs.assign(bound=bound(runs), with_log=bernstein(runs))
    points["scale"] = points["N"].where(points["varied"] == "N", points["bound"])
    points["edge"] = np.sqrt(1 + points["error"]) - 1
    ratio = np.log(points["error"] / np.sqrt(points["bound"])).groupby([points[name] for name in by])
    return pd.DataFrame(
        {
            "exponent": exponents(points, by, "scale", "error"),
            "corrected": exponents(points[points["varied"] == "N"], by, "N", "edge"),
            "with_log": exponents(points[points["varied"] == "n"], by, "with_log", "error"),
            "constant": np.exp(ratio.mean()),
        }
    ).reset_index()
