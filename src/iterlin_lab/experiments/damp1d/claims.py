"""The claims of E-DAMP1D (T fig. 9, §4.3), on runs paired by initialisation over the λ > 0 of exact steps.

They are those of the deeper network, but for the last claim. A run that has failed counts as worse than any other.
Blocks of runs stand for samples of quantiles and minima.
"""

import numpy as np
import pandas as pd

from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, equivalent, in_most, trend
from iterlin_lab.experiments.damp1d.depths import deepest
from iterlin_lab.report.names import named

BLOCKS = 10
MARGIN = float(np.log(1.25))  # of log RMSE: the bounds 0.8 and 1.25 of bioequivalence


def _by_damping(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """A row a run, a column a λ in falling order."""
    damped = runs[(runs["step_size"] == 1) & (runs["damping"] > 0)]
    values = damped[name].where(~damped["failed"], np.inf)
    table = damped.assign(value=values).pivot_table(index="run", columns="damping", values="value", dropna=False)
    return table.sort_index(axis=1, ascending=False)


def _in_blocks(table: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """A row a block of runs."""
    blocks = np.arange(len(table)) % BLOCKS
    grouped = table.groupby(blocks)
    return grouped.min() if statistic == "min" else grouped.quantile(0.95, interpolation="higher")


def _text(table: pd.DataFrame, what: str) -> str:
    """The first, the middle and the last λ."""
    shown = table.iloc[:, [0, table.shape[1] // 2, -1]]
    middle = zip(shown.columns.to_numpy(), shown.median(), strict=True)
    found = ", ".join(f"{value:.3g} at {named(damping=damping)}" for damping, value in middle)
    return f"median {what}: {found}"


def _worse(runs: pd.DataFrame, margin: float) -> Evidence | None:
    return _falls(deepest(runs))


def _worse_if_shallower(runs: pd.DataFrame, margin: float) -> Evidence | None:
    shallower = runs[runs["depth"] < runs["depth"].max()]
    return None if shallower.empty else _falls(shallower)


def _falls(runs: pd.DataFrame) -> Evidence | None:
    """The trend, and in most runs a fall at the last step of λ, which a trend over all does not see."""
    table = _by_damping(runs, "test_rmse")
    along = trend(table, _text(table, "test RMSE"))
    if along is None:
        return None
    largest, second = table.columns.to_numpy()[:2]
    fall = (table[second] - table[largest]).dropna()
    last = in_most(fall[fall != 0], 0.5, f"it falls from {named(damping=second)} to {named(damping=largest)}")
    if last is None:
        return None
    return Evidence(
        max(along.p_for, last.p_for),
        min(1, 2 * min(along.p_against, last.p_against)),
        f"{along.text}; {last.text}",
    )


def _worst(runs: pd.DataFrame, margin: float) -> Evidence | None:
    table = _in_blocks(_by_damping(deepest(runs), "test_rmse"), "quantile")
    return trend(table, _text(table, "95th percentile of the test RMSE in a block"))


def _rougher(runs: pd.DataFrame, margin: float) -> Evidence | None:
    table = _by_damping(deepest(runs), "roughness")
    return trend(table, _text(table, "roughness"))


def _best(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """As a ratio: the margin is one of log RMSE."""
    table = _in_blocks(_by_damping(deepest(runs), "test_rmse"), "min")
    largest, *others = table.columns.to_numpy()
    differences = {named(damping=damping): np.log(table[damping] / table[largest]) for damping in others}
    finite = {name: values for name, values in differences.items() if np.isfinite(values).all()}
    if len(finite) < len(differences) or len(table) < MIN_RUNS:
        return None
    evidence = equivalent(finite, margin, unit="log ratio")
    return evidence and evidence._replace(text=_text(table, "best test RMSE in a block"))


CLAIMS = (
    Claim(
        "E-DAMP1D-1",
        "T fig. 9, §4.3",
        "More damping lowers the test RMSE on average.",
        "mean falls",
        "trend of the test RMSE over λ (Page), and a fall at the last step of λ in most runs (binomial)",
        0.0,
        _worse,
    ),
    Claim(
        "E-DAMP1D-2",
        "T fig. 9, §4.3",
        "More damping lowers the test RMSE in the worst case.",
        "worst case falls",
        f"trend over λ of the 95th percentile in {BLOCKS} blocks of runs (Page)",
        0.0,
        _worst,
    ),
    Claim(
        "E-DAMP1D-3",
        "T fig. 9, §4.3",
        "The best test RMSE stays about the same.",
        "fairly constant",
        f"ratio to that of the largest λ of the best in {BLOCKS} blocks of runs, between 0.8 and 1.25, equivalence",
        MARGIN,
        _best,
    ),
    Claim(
        "E-DAMP1D-4",
        "T fig. 9, §4.3",
        "With more damping the functions become smoother.",
        "a clear trend",
        "trend over λ of the roughness, ∫|f''| (Page)",
        0.0,
        _rougher,
    ),
    Claim(
        "E-DAMP1D-5",
        "T fig. 9, §4.3, C.2.3",
        'More damping lowers the test RMSE on average with fewer hidden layers too, as "5 layer" may be read.',
        "mean falls",
        "trend of the test RMSE over λ (Page), and a fall at the last step of λ in most runs (binomial)",
        0.0,
        _worse_if_shallower,
    ),
)

FAMILIES = (Family("E-DAMP1D", "damp1d_runs", CLAIMS),)
