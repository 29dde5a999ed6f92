"""The claims of E-SWEEP (T fig. 3, §4.1), on validation-stopped test accuracies paired by run.

The margin is one point, which is what T calls comparable. K counts steps of the scale's own learning rate.
"""

import numpy as np
import pandas as pd

from iterlin_lab.claims.evidence import (
    Claim,
    Evidence,
    Family,
    any_diverged,
    apart,
    below,
    equivalent,
    finite,
    paired,
    some_above,
)
from iterlin_lab.report.names import named

NETWORK, PROXY = "network_validation_stopped", "proxy_validation_stopped"
LIMIT, LARGE = 1e4, 1e8
POINT, CURVES = 0.01, 0.05


def _at(runs: pd.DataFrame, K: float) -> pd.DataFrame:
    return runs[runs["K"] == K]


def _tgn(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["method"] == "TGN"]


def _differences(runs: pd.DataFrame, largest: float = np.inf) -> tuple[dict[str, pd.Series], list[str]]:
    """Differences from K = 1 per finite K > 1 whose runs all fitted the training set; and the K left out.

    There are none if a run of K = 1 diverged.
    """
    found, left_out, one = {}, [], _at(runs, 1)
    if any_diverged(one):
        return found, left_out
    for name, rows in finite(runs, largest).items():
        difference = paired(rows, one, NETWORK)
        if (rows["outcome"] == "fitted").all() and difference is not None:
            found[name] = difference
        else:
            left_out.append(name)
    return found, left_out


def _follows(runs: pd.DataFrame, margin: float) -> Evidence | None:
    differences, left_out = _differences(runs, LIMIT)
    note = f". Left out, since some runs did not fit in time: {', '.join(left_out)}" if left_out else ""
    return equivalent(differences, margin, note)


def _same_curves(runs: pd.DataFrame, margin: float) -> Evidence | None:
    others = finite(runs, LIMIT)
    if any_diverged(_at(runs, 1), *others.values()):
        return None
    return apart({name: rows["largest_gap"] for name, rows in others.items()}, margin)


def _nothing_changes(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """The largest finite K against the one before it."""
    *_, before, largest = sorted(K for K in runs["K"].unique() if np.isfinite(K))
    difference = _difference(_at(runs, largest), _at(runs, before))
    name = f"{named(K=largest)} minus {named(K=before)}"
    return equivalent({} if difference is None else {name: difference}, margin)


def _difference(runs: pd.DataFrame, reference: pd.DataFrame) -> pd.Series | None:
    """The difference by run; None if a run met its step limit or diverged: what it would have come to is not known."""
    cut_off = pd.concat([runs, reference])["outcome"].isin(["step_limit", "diverged"])
    return None if cut_off.any() else paired(runs, reference, NETWORK)


def _lazy_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    """Lazy training is not expected to fit, so that only divergence counts."""
    lazy, one = _at(runs, np.inf), _at(runs, 1)
    return None if any_diverged(lazy, one) else below(paired(lazy, one, PROXY, NETWORK), margin)


def _large_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    return below(_difference(_at(runs, LARGE), _at(runs, 1)), margin)


def _large_is_tgn(runs: pd.DataFrame, margin: float) -> Evidence | None:
    difference = _difference(_at(runs, LARGE), _tgn(runs))
    return equivalent({} if difference is None else {named(K=LARGE): difference}, margin)


def _tgn_below(runs: pd.DataFrame, margin: float) -> Evidence | None:
    return below(_difference(_tgn(runs), _at(runs, 1)), margin)


CLAIMS = (
    Claim(
        "E-SWEEP-1",
        "T §4.1, fig. 3",
        "Up to K = 10⁴ iterative linearisation performs about the same as K = 1.",
        "the same curve",
        "difference from K = 1 for every 1 < K ≤ 10⁴, equivalence",
        POINT,
        _follows,
    ),
    Claim(
        "E-SWEEP-2",
        "T §4.1, fig. 3",
        "Between the small K and the largest, performance is slightly higher for a while.",
        "slightly higher",
        "difference from K = 1 for every finite K, one-sided, at least one",
        POINT,
        lambda runs, margin: some_above(_differences(runs)[0], margin),
    ),
    Claim(
        "E-SWEEP-3",
        "T §4.1, fig. 3",
        "At K = 10⁸ performance drops below that of K = 1.",
        "significantly worse",
        "difference of K = 10⁸ from K = 1, one-sided",
        POINT,
        _large_below,
    ),
    Claim(
        "E-SWEEP-4",
        "T §4.1, §4.3",
        "At K = 10⁸ iterative linearisation is truncated Gauss–Newton.",
        "60.3 % for both",
        "difference of K = 10⁸ from TGN at the smallest tolerance β, equivalence",
        POINT,
        _large_is_tgn,
    ),
    Claim(
        "E-SWEEP-5",
        "T fig. 3, §4.3",
        "Truncated Gauss–Newton generalises worse than gradient descent.",
        "60.3 % against 69.4 %",
        "difference of TGN at the smallest tolerance β from K = 1, one-sided",
        POINT,
        _tgn_below,
    ),
    Claim(
        "E-SWEEP-6",
        "T §4.1, fig. 4",
        "With no feature update at all (K = ∞) generalisation is worse than with K = 1.",
        "worse at every n",
        "difference of the linear proxy of K = ∞, the better of its two models, from the network of K = 1, one-sided",
        POINT,
        _lazy_below,
    ),
    Claim(
        "E-SWEEP-7",
        "T fig. 1",
        "Beyond some K nothing changes any more.",
        "drawn, without a number",
        "difference between the two largest finite K, equivalence",
        POINT,
        _nothing_changes,
    ),
    Claim(
        "E-SWEEP-8",
        "T §4.1, fig. 3",
        "Up to K = 10⁴ training takes the path of K = 1, and not only to the same end.",
        "the same curve",
        "largest gap of the test curve from that of K = 1 from step K on, for every 1 < K ≤ 10⁴, at most five points",
        CURVES,
        _same_curves,
    ),
)

FAMILIES = (Family("E-SWEEP", "k_sweep_runs", CLAIMS),)
