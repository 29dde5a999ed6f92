"""The claims of L-KERNEL (L theorem 2), on exponents that are fitted in every run."""

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, estimate
from iterlin_lab.statistics import interval, p_above, p_below, within

THEORY = 0.5
MARGIN = 0.05


def _values(exponents: pd.DataFrame, kernel: str, varied: str, column: str) -> pd.Series | None:
    values = exponents.loc[(exponents["kernel"] == kernel) & (exponents["varied"] == varied), column].dropna()
    return values if len(values) >= MIN_RUNS else None


def _near(exponents: pd.DataFrame, margin: float, kernel: str) -> Evidence | None:
    """Corrected for finite N, within ± margin of −½ (two one-sided tests); the opposite is that it lies outside."""
    values, plain = (_values(exponents, kernel, "N", column) for column in ("corrected", "exponent"))
    if values is None or plain is None:
        return None
    _, low, high = interval(values)
    inside = "contains" if low <= -THEORY <= high else "does not contain"
    text = f"exponent in N {estimate(values, '+.3f')}, which {inside} −1/2; uncorrected {estimate(plain, '+.3f')}"
    found = effects({"": values}, "exponent")
    return Evidence(*within(values, -THEORY - margin, -THEORY + margin), text, found)


def _no_faster(exponents: pd.DataFrame, margin: float, kernel: str) -> Evidence | None:
    """The error rises with an exponent of at most ½ + margin; the opposite is that the exponent is larger."""
    values, plain = (_values(exponents, kernel, "n", column) for column in ("with_log", "exponent"))
    if values is None or plain is None:
        return None
    found = f"{estimate(values, '+.3f')}, without {estimate(plain, '+.3f')}"
    text = f"exponent in the squared bound with its logarithm {found}"
    drawn = effects({"": values}, "exponent")
    return Evidence(p_below(values, THEORY + margin), p_above(values, THEORY + margin), text, drawn)


CLAIMS = (
    Claim(
        "L-KERNEL-1",
        "L theorem 2",
        "The whitened error of the neural tangent kernel falls as N^(−1/2).",
        "Õ(√((n + d)/(Nd)))",
        "slope of log(√(1 + error) − 1) in log N, a fit a run: within ± margin of −1/2, equivalence",
        MARGIN,
        lambda exponents, margin: _near(exponents, margin, "NT"),
    ),
    Claim(
        "L-KERNEL-2",
        "L theorem 2",
        "The whitened error of the random-feature kernel falls as N^(−1/2).",
        "similar picture holds for random features",
        "slope of log(√(1 + error) − 1) in log N, a fit a run: within ± margin of −1/2, equivalence",
        MARGIN,
        lambda exponents, margin: _near(exponents, margin, "RF"),
    ),
    Claim(
        "L-KERNEL-3",
        "L theorem 2",
        "With n the error of the neural tangent kernel grows no faster than √(n + d), up to a logarithm.",
        "Õ(√((n + d)/(Nd)))",
        "slope of log error in log((n + d) log 2n), a fit a run: below 1/2 + margin, one-sided",
        MARGIN,
        lambda exponents, margin: _no_faster(exponents, margin, "NT"),
    ),
    Claim(
        "L-KERNEL-4",
        "L theorem 2",
        "With n the error of the random-feature kernel grows no faster than √n, up to a logarithm.",
        "similar picture holds for random features",
        "slope of log error in log(n log 2n), a fit a run: below 1/2 + margin, one-sided",
        MARGIN,
        lambda exponents, margin: _no_faster(exponents, margin, "RF"),
    ),
)

FAMILIES = (Family("L-KERNEL", "kernel_limit_exponents", CLAIMS),)
