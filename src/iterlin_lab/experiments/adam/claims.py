"""The claims of E-ADAM (T fig. 8, §4.3), on test accuracies at the end, which T fig. 8 shows, paired by run.

K = 1 takes explicit steps with the best η of its grid by the rule of `table.tuned`, which reads validation data alone.
Opposite to more than five points below is less than five points below, and to not below within a point (which is
non-inferiority) is more than a point below.
"""

import pandas as pd

from iterlin_lab.claims.effects import effects
from iterlin_lab.claims.evidence import Claim, Evidence, Family, any_diverged, equivalent, paired, points
from iterlin_lab.report.names import named
from iterlin_lab.statistics import p_above, p_below

FINAL = "network_final"
GAP, POINT = 0.05, 0.01
NAMES = {"descent": "gradient descent", "Adam": "Adam"}


def _of_one(runs: pd.DataFrame, method: str) -> pd.DataFrame:
    return runs[(runs["method"] == method) & (runs["K"] == 1) & runs["chosen"]]


def _large(runs: pd.DataFrame, method: str) -> pd.DataFrame:
    return runs[(runs["method"] == method) & (runs["K"] > 1)]


def _difference(own: pd.DataFrame, reference: pd.DataFrame) -> pd.Series | None:
    """The difference from the reference; None if a run of either met its step limit or diverged."""
    cut_off = pd.concat([own, reference])["outcome"] != "fitted"
    return None if cut_off.any() else paired(own, reference, FINAL)


def _text(difference: pd.Series, *tuned: pd.DataFrame) -> str:
    """With the η of the runs with K = 1, of which each has one."""
    rates = ", ".join(f"{NAMES[rows['method'].iloc[0]]} with η = {rows['learning_rate'].iloc[0]:g}" for rows in tuned)
    return f"difference {points(difference)}; {rates}"


def _solved_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """No evidence also if the proxy did not classify the whole training set correctly at the end of every phase."""
    solved = _large(runs, "Adam")
    ends = (solved["recorded"] == solved["phases"]) & (solved["proxy_train_accuracy_lowest"] == 1)
    difference = _difference(solved, descent := _of_one(runs, "descent"))
    if difference is None or not ends.all():
        return None
    text, found = _text(difference, descent), effects({"": difference})
    return Evidence(p_below(difference, -margin), p_above(difference, -margin), text, found)


def _adam_not_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    adam, descent = _of_one(runs, "Adam"), _of_one(runs, "descent")
    difference = _difference(adam, descent)
    if difference is None:
        return None
    text, found = _text(difference, adam, descent), effects({"": difference})
    return Evidence(p_above(difference, -margin), p_below(difference, -margin), text, found)


def _alike_if_kept(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """Also of runs that met the step limit, which is the same for both; None if a run diverged."""
    kept, reset = _large(runs, "kept"), _large(runs, "Adam")
    difference = None if any_diverged(kept, reset) else paired(kept, reset, FINAL)
    return None if difference is None else equivalent({"kept": difference}, margin)


def _still(runs: pd.DataFrame, margin: float) -> Evidence | str | None:
    newton = runs[runs["method"] == "TGN"]
    smallest = sorted(newton["tolerance"].unique())[:2]
    if len(smallest) < 2:
        return "it takes two tolerances"
    least, next_one = (newton[newton["tolerance"] == tolerance] for tolerance in smallest)
    difference = _difference(least, next_one)
    name = f"{named(tolerance=smallest[0])} from {named(tolerance=smallest[1])}"
    return None if difference is None else equivalent({name: difference}, margin)


CLAIMS = (
    Claim(
        "E-ADAM-1",
        "T fig. 8, §4.3",
        "With every lazy problem solved by Adam, test accuracy is more than five points below that of tuned gradient "
        "descent with K = 1.",
        "60.3 % against 69.4 %",
        "difference of large K with Adam from K = 1 with the η of the best validation accuracy, below −5 points, "
        "one-sided",
        GAP,
        _solved_below,
    ),
    Claim(
        "E-ADAM-2",
        "T fig. 8, §4.3",
        "That is not due to Adam: with K = 1 it is not below gradient descent, where the η of both are tuned.",
        "over 70 % against 69.4 %",
        "difference of Adam at K = 1 from gradient descent, each with the η of the best validation accuracy, above "
        "−1 point, one-sided (non-inferiority)",
        POINT,
        _adam_not_below,
    ),
    Claim(
        "E-ADAM-3",
        "choices: state reset",
        "Whether Adam's momenta start anew with every lazy problem or are kept makes no difference.",
        "no number",
        "difference of large K with Adam, momenta kept, from momenta reset, with the same step limit, within 1 point, "
        "equivalence",
        POINT,
        _alike_if_kept,
    ),
    Claim(
        "E-ADAM-4",
        "T fig. 8, §4.3",
        "Truncated Gauss–Newton stands still as lazy problems are solved better.",
        "solved completely, without a tolerance",
        "difference of the smallest tolerance β from the next one, within 1 point, equivalence",
        POINT,
        _still,
    ),
)

FAMILIES = (Family("E-ADAM", "adam_runs", CLAIMS),)
