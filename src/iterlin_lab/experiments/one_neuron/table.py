"""The tables of L-RELU."""

import math

import numpy as np
import pandas as pd

from iterlin_lab.experiments.one_neuron.settings import OneNeuron, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.tables.summaries import exponents, geometric_means, means

DESCENT = "one neuron"
DECLINE = 1e-2, 1e-12  # the test errors between which a descent's rate is measured: near w*, and above rounding
HERMITE = {"energy": 1 / 2, "constant": 1 / (2 * math.pi), "linear": 1 / 4, "quadratic": 1 / (4 * math.pi)}


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """Errors by learner, d and n/d; n_ε by learner and d; its exponents in d; the runs; the plateaus; the descents."""
    section, folder = scale.one_neuron, layout.results / "one_neuron"
    descent = pd.read_csv(folder / "descent.csv")
    ends = descent.groupby(["dimension", "ratio", "n", "run"], as_index=False).last()
    errors = pd.concat([pd.read_csv(folder / "errors.csv"), ends.assign(learner=DESCENT)], ignore_index=True)
    sizes = needed(section, errors)
    longest = descent[descent["ratio"] == descent["ratio"].max()]
    growth = exponents(sizes, ["learner", "run"], "dimension", "size").rename("exponent").reset_index()
    runs = growth.merge(steadiness(longest), on=["learner", "run"], how="left")
    return {
        "one_neuron": means(errors, ["learner", "dimension", "ratio"], "test_error"),
        "one_neuron_sizes": geometric_means(sizes, ["learner", "dimension"], "size"),
        "one_neuron_exponents": means(runs, ["learner"], "exponent"),
        "one_neuron_runs": runs,
        "one_neuron_plateaus": pd.DataFrame({"degree": range(3), "plateau": plateaus()}),
        "one_neuron_descent": longest[["dimension", "ratio", "run", "step", "test_error"]],
    }


def plateaus() -> list[float]:
    """‖P_{>l} y‖² / ‖y‖² of y = ReLU(⟨w*, x⟩) for l = 0, 1, 2: from its first Hermite coefficients, squared."""
    parts = [HERMITE[name] / HERMITE["energy"] for name in ("constant", "linear", "quadratic")]
    return (1 - np.cumsum(parts)).tolist()


def needed(section: OneNeuron, errors: pd.DataFrame) -> pd.DataFrame:
    """n_ε of every learner, d and run: from where on the error stays below ε, between two n by a power law.

    It is missing where the largest n does not reach ε, or the smallest one does already.
    """
    rows = []
    for (learner, dimension, run), group in errors.groupby(["learner", "dimension", "run"]):
        n, error = group.sort_values("n")[["n", "test_error"]].to_numpy(float).T
        size = crossing(n, error, section.error)
        rows.append({"learner": learner, "dimension": dimension, "run": run, "size": size})
    return pd.DataFrame(rows)


def crossing(n: np.ndarray, error: np.ndarray, bound: float) -> float:
    """Where the error falls below the bound for good, log-log linear between two n; NaN if it does so nowhere."""
    above = np.flatnonzero(error > bound)
    if len(above) == 0 or above[-1] + 1 == len(n):
        return math.nan
    ends = slice(above[-1], above[-1] + 2)
    x, y = np.log(n[ends]), np.log(error[ends])
    return float(np.exp(np.interp(-math.log(bound), -y, x)))


def steadiness(descent: pd.DataFrame) -> pd.DataFrame:
    """By run, the later over the earlier rate at which the log error falls in `DECLINE`, as a mean over d.

    It is one if log error is linear in time, and 0 where the error does not fall that far.
    """
    ratios = descent.groupby(["dimension", "run"])[["step", "test_error"]].apply(_later_over_earlier)
    means = ratios.groupby("run").mean().rename("steadiness").reset_index()
    return means.assign(learner=DESCENT)


def _later_over_earlier(curve: pd.DataFrame) -> float:
    log = np.log10(curve["test_error"].to_numpy())
    high, low = np.log10(DECLINE)
    if log[-1] > low:
        return 0.0
    falls = np.minimum.accumulate(log)
    start, middle, end = np.interp([-high, -(high + low) / 2, -low], -falls, curve["step"].to_numpy(float))
    return (middle - start) / (end - middle)
