"""The claims of L-LAZY (L theorem 3), on the exponents in N of the distance, a fit for every γ = N^−p and run."""

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, estimate
from iterlin_lab.statistics import p_above, p_below, within

MARGIN = 0.1  # of an exponent: what counts as none
CRITICAL = 1.0  # γ = 1/N


def _slopes(slopes: pd.DataFrame, name: str) -> dict[float, pd.Series] | None:
    """By p; None if there are too few runs."""
    found = {float(str(exponent)): group[name] for exponent, group in slopes.groupby("exponent")}
    return found if all(len(values) >= MIN_RUNS for values in found.values()) else None


def _vanishes(slopes: pd.DataFrame, margin: float, name: str) -> Evidence | None:
    """Falls for every γ ≫ 1/N at once (intersection-union); the opposite is that for one it does not (Bonferroni)."""
    found = _slopes(slopes, name)
    if found is None:
        return None
    lazy = {exponent: values for exponent, values in found.items() if exponent < CRITICAL}
    p_all = max(p_below(values, 0) for values in lazy.values())
    p_one = min(1, len(lazy) * min(p_above(values, -margin) for values in lazy.values()))
    text = "; ".join(f"γ = N^−{exponent:g}: exponent {estimate(values, '.2f')}" for exponent, values in lazy.items())
    found = {f"γ = N^−{exponent:g}": values for exponent, values in lazy.items()}
    return Evidence(p_all, p_one, text, effects(found, "exponent"))


def _stays(slopes: pd.DataFrame, margin: float) -> Evidence | None:
    """Within ± margin of zero (two one-sided tests); the opposite is that it lies outside."""
    found = _slopes(slopes, "distance")
    if found is None:
        return None
    values = found[CRITICAL]
    text, drawn = f"exponent {estimate(values, '.2f')}", effects({"": values}, "exponent")
    return Evidence(*within(values, -margin, margin), text, drawn)


CLAIMS = (
    Claim(
        "L-LAZY-1",
        "L theorem 3",
        "For γ ≫ 1/N the flows of f and of f_lin come together as N grows.",
        "vanishingly close",
        "slope in log N of the log of the largest RMS distance on test inputs, below 0 for every γ = N^−p with p < 1",
        MARGIN,
        lambda slopes, margin: _vanishes(slopes, margin, "distance"),
    ),
    Claim(
        "L-LAZY-2",
        "L theorem 3",
        "At γ = 1/N they do not.",
        "the theorem ends there; the text after theorem 4 has γ ∝ 1/N in the kernel regime",
        "the same slope at γ = 1/N, equivalence to 0",
        MARGIN,
        _stays,
    ),
    Claim(
        "L-LAZY-3",
        "L §2",
        "For γ ≫ 1/N the kernel moves the less the larger N is.",
        "J₀ stands for J_t",
        "slope in log N of the log of the largest ‖K_t − K₀‖/‖K₀‖, below 0 for every γ = N^−p with p < 1",
        MARGIN,
        lambda slopes, margin: _vanishes(slopes, margin, "kernel"),
    ),
)

FAMILIES = (Family("L-LAZY", "lazy_flow_slopes", CLAIMS),)
