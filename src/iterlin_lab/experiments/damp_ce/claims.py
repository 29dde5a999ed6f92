"""The claims of E-DAMPCE (T fig. 9 bottom, §4.3, §6), on test accuracies at the end, which T fig. 9 shows, by run."""

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import Claim, Evidence, Family, paired, points, trend
from iterlin_lab.report.names import named
from iterlin_lab.statistics import p_above, p_below

FINAL = "network_final"


def _along(runs: pd.DataFrame, dial: str) -> tuple[pd.DataFrame, str]:
    """Accuracies by run along a dial, from little feature learning to much as its values rise, and what they are.

    A value with a run that did not fit the training set is left out, as in E-SWEEP-1.
    """
    fitted = (runs["outcome"] == "fitted").groupby(runs[dial]).all()
    values = runs.pivot_table(index="run", columns=dial, values=FINAL).reindex(columns=fitted.index[fitted])
    pairs = zip(values.columns.to_numpy(), values.mean(), strict=True)
    means = ", ".join(f"{named(**{dial: value})}: {100 * mean:.1f}" for value, mean in pairs)
    left_out = ", ".join(named(**{dial: value}) for value in fitted.index[~fitted])
    note = f". Left out, since some runs did not fit in time: {left_out}" if left_out else ""
    return values, f"mean accuracy in %: {means}{note}"


def _rises(runs: pd.DataFrame, margin: float) -> Evidence | None:
    return trend(*_along(runs[runs["method"] == "always"], "damping"))


def _early(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    """Early damping against late damping, where all runs fitted, and none before λ had changed."""
    early, late = (runs[runs["method"] == method] for method in ("early", "late"))
    switched = pd.concat([early, late])
    difference = paired(early, late, FINAL)
    if (switched["outcome"] != "fitted").any() or difference is None:
        return None
    phases = ", ".join(
        f"{rows['phases'].min():g} to {rows['phases'].max():g} ({method})"
        for method, rows in switched.groupby("method")
    )
    text = f"λ changes after phase {switched['after'].iloc[0]:g}, and runs had {phases}"
    if (soon := int((switched["phases"] <= switched["after"]).sum())) > 0:
        return f"{soon} of {len(switched)} runs fitted before λ changed ({text})"
    p_for, p_against = p_above(difference, margin), p_below(difference, margin)
    found = effects({"early minus late": difference})
    return Evidence(p_for, p_against, f"early minus late {points(difference)}; {text}", found)


def _mirrored(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """Intersection–union: accuracy rises with λ and falls with K; the opposite, that one of them goes the other way."""
    (rising, by_damping), (falling, by_period) = (
        _along(runs[runs["method"] == method], dial) for method, dial in (("always", "damping"), ("gradient", "K"))
    )
    up, down = trend(rising, by_damping), trend(falling.iloc[:, ::-1], by_period)
    if up is None or down is None:
        return None
    against = min(1, 2 * min(up.p_against, down.p_against))
    return Evidence(max(up.p_for, down.p_for), against, f"{up.text}; {down.text}")


CLAIMS = (
    Claim(
        "E-DAMPCE-1",
        "T fig. 9, §4.3",
        "The larger the damping of the lazy problems is, the better the network generalises.",
        "an increasing curve",
        "rising trend over λ (Page)",
        0.0,
        _rises,
    ),
    Claim(
        "E-DAMPCE-2",
        "T §6",
        "Damping matters most early in training.",
        "larger damping values early in training",
        "difference of damping in the first phases alone from damping in all later ones alone, one-sided",
        0.0,
        _early,
    ),
    Claim(
        "E-DAMPCE-3",
        "T §4.3, fig. 9",
        "Damping and K are two dials of feature learning: accuracy rises with λ, and mirrors its fall with K.",
        "the trends mirror each other",
        "rising trend over λ and falling trend over K ≥ 10⁵ (Page), both",
        0.0,
        _mirrored,
    ),
)

FAMILIES = (Family("E-DAMPCE", "damp_ce_dials", CLAIMS),)
