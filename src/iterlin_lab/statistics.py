"""The statistics of tables and claims over runs: means with t-intervals, tests of means, corrections, a bootstrap."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy  # whose `stats`, which takes long to import, is imported where it is first used

CONFIDENCE = 0.95
POWER = 0.8


def half_width(error: Any, number: int) -> Any:
    """Half the width of the t-interval of a mean, from its standard error over so many runs."""
    return scipy.special.stdtrit(number - 1, (1 + CONFIDENCE) / 2) * error


def interval(values: pd.Series) -> tuple[float, float, float]:
    """Mean and both ends of its t-interval. Missing values, of runs that diverged, are left out."""
    known = values.dropna()
    mean = float(known.mean()) if len(known) else np.nan
    with np.errstate(invalid="ignore"):  # an infinite value has no interval
        half = float(half_width(known.sem(), len(known))) if len(known) > 1 else np.nan
    return mean, mean - half, mean + half


def exact_interval(count: int, number: int) -> tuple[float, float]:
    """The exact interval of a share, by Clopper and Pearson: quantiles of beta distributions."""
    quantile, tail = scipy.special.betaincinv, (1 - CONFIDENCE) / 2
    low = float(quantile(count, number - count + 1, tail)) if count else 0.0
    high = float(quantile(count + 1, number - count, 1 - tail)) if count < number else 1.0
    return low, high


def p_above(values: pd.Series, bound: float) -> float:
    """One-sided t-test of the mean being above the bound."""
    error = float(np.std(values.to_numpy(), ddof=1) / np.sqrt(len(values)))
    if error == 0:
        return float(values.mean() <= bound)
    return float(scipy.special.stdtr(len(values) - 1, (bound - float(values.mean())) / error))


def p_below(values: pd.Series, bound: float) -> float:
    """One-sided t-test of the mean being below the bound."""
    return p_above(-values, -bound)


def within(values: pd.Series, low: float, high: float) -> tuple[float, float]:
    """p of the mean lying between the bounds (two one-sided tests), and of it lying outside."""
    outside = 2 * min(p_above(values, high), p_below(values, low))
    return max(p_below(values, high), p_above(values, low)), min(1, outside)


def p_more(count: int, number: int, share: float) -> tuple[float, float]:
    """Binomial tests of a count out of a number: p of the share being above this one, and of it being below."""
    sides = (scipy.stats.binomtest(count, number, share, alternative=side).pvalue for side in ("greater", "less"))
    above, below = map(float, sides)
    return above, below


def p_trend(table: pd.DataFrame) -> tuple[float, float]:
    """Page's test: p of values that rise along the columns, in their order, and of values that fall."""
    rises, falls = (
        scipy.stats.page_trend_test(rows, method="asymptotic").pvalue for rows in (table, table.iloc[:, ::-1])
    )
    return float(rises), float(falls)


def runs_that_decide(p: float, number: int, level: float) -> float:
    """About how many runs take a test with this p over so many below the level, with the power `POWER`.

    If the effect is as it was found: the normal quantile of p then grows as the root of the number of runs. Infinite
    where p is a half or more.
    """
    found, level_at, power_at = -scipy.special.ndtri([p, level, 1 - POWER])
    return float(np.ceil(number * ((level_at + power_at) / found) ** 2)) if found > 0 else np.inf


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number (Holm 1979)."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p_values)[order] * factors))
    return adjusted.tolist()


def bootstrap_counts(number: int, draws: int) -> np.ndarray:
    """How often each of so many runs is in each of the resamples, (draws, number); always the same ones."""
    return np.random.default_rng(0).multinomial(number, np.full(number, 1 / number), draws)


def bootstrap_interval(values: np.ndarray) -> tuple[float, float]:
    """The quantiles of what was found in the resamples."""
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return low, high
