"""The claims of E-DIALS, on test accuracies of runs that have fitted the training set, paired by run."""

from functools import partial

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import MIN_RUNS, Claim, Evidence, Family, equivalent, estimate
from iterlin_lab.statistics import p_above, p_below
from iterlin_lab.tables import groups

MARGIN = 0.02


def _collapses(runs: pd.DataFrame, margin: float, dial: str) -> Evidence | str | None:
    """At every value of the dial, what is left at equal movement of the kernel is within the margin."""
    own = runs[runs["dial"] == dial]
    if own["run"].nunique() < MIN_RUNS:
        return None
    known = {f"{row['value']:g}": rows["at_equal_movement"].dropna() for row, rows in groups(own, ["value"])}
    enough = {f"{dial} = {value}": differences for value, differences in known.items() if len(differences) >= MIN_RUNS}
    if not enough:
        return f"fewer than {MIN_RUNS} runs fitted whose kernel moved no further than with some K"
    return equivalent(enough, margin)


def _ordered(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """Within a draw, and over all values of all dials, the rank correlation of accuracy and movement is positive."""
    found = {}
    for row, own in groups(runs.dropna(subset="accuracy"), ["run"]):
        found[row["run"]] = own["accuracy"].rank().corr(own["kernel_distance"].rank())
    values = pd.Series(found, dtype=float).dropna()
    if len(values) < MIN_RUNS:
        return None
    text = f"rank correlation {estimate(values, '+.2f')}"
    return Evidence(p_above(values, margin), p_below(values, margin), text, effects({"": values}, "rank correlation"))


DIALS = {
    "λ": "damping",
    "α": "the scale of the outputs",
    "width": "width",
    "η": "the learning rate",
}

CLAIMS = (
    *(
        Claim(
            f"E-DIALS-{number}",
            "ours, after T §6",
            f"Where the tangent kernel has moved as far, {name} leaves networks with the accuracy that K does.",
            "future work",
            f"difference from K, interpolated at equal kernel distance, for every value of {dial}, equivalence",
            MARGIN,
            partial(_collapses, dial=dial),
        )
        for number, (dial, name) in enumerate(DIALS.items(), 1)
    ),
    Claim(
        "E-DIALS-5",
        "ours, after T §6",
        "Over all dials, networks whose kernels have moved further generalise better.",
        "future work",
        "rank correlation of accuracy and kernel distance within a draw, one-sided",
        0.0,
        _ordered,
    ),
)

FAMILIES = (Family("E-DIALS", "dials_runs", CLAIMS),)
