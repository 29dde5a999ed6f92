"""Verdicts on claims from the p-values of their tests.

A claim is *supported* if its own test holds, *contradicted* if the test of its opposite does, *inconclusive* if
neither does, and *not applicable at this scale* where its runs cannot show it.
Both tests are corrected for the number of claims (Holm): within an experiment, which gives the verdict, and over all
claims. A claim without a test counts, with p = 1, so that missing runs make no other claim easier.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from iterlin_lab.claims.evidence import Claim, Evidence, Family
from iterlin_lab.report.names import row_name
from iterlin_lab.statistics import holm, runs_that_decide

LEVEL = 0.05
VERDICTS = SUPPORTED, CONTRADICTED, INCONCLUSIVE, NOT_APPLICABLE = (
    "supported",
    "contradicted",
    "inconclusive",
    "not applicable at this scale",
)
BOTH = "; the opposite holds as well: what was found is there, and smaller than the margin"

Rows = list[dict[str, Any]]


def judge_all(families: Iterable[Family], tables: Mapping[str, pd.DataFrame]) -> Rows:
    """The verdicts on all claims, and what they would be with p-values corrected for the number of all."""
    rows = [row for family in families for row in judge(family.claims, tables[family.table])]
    for row, p_for, p_against in _corrected(rows):
        row |= {
            "verdict_of_all": _verdict(p_for, p_against),
            "p_for_of_all": _round(p_for),
            "p_against_of_all": _round(p_against),
        }
    return rows


def judge(claims: Sequence[Claim], runs: pd.DataFrame) -> Rows:
    """The verdicts on the claims of one experiment, in their order, as plain values."""
    rows = [_tested(claim, runs) for claim in claims]
    for row, p_for, p_against in _corrected(rows):
        row |= {"verdict": _verdict(p_for, p_against), "p_for": _round(p_for), "p_against": _round(p_against)}
        if max(p_for, p_against) <= LEVEL:
            row["evidence"] += BOTH
        if row["verdict"] == INCONCLUSIVE:
            row |= _leaning(row, runs["run"].nunique(), LEVEL / len(claims))
    return rows


def _tested(claim: Claim, runs: pd.DataFrame) -> dict[str, Any]:
    """The claim with its evidence, or with the reason why there is none."""
    found = claim.test(runs, claim.margin)
    row: dict[str, Any] = claim._asdict()
    del row["test"]
    if isinstance(found, Evidence):
        numbers = {"p_for_alone": found.p_for, "p_against_alone": found.p_against}
        drawn = [effect._asdict() for effect in found.effects]
        return row | {"evidence": found.text} | numbers | ({"effects": drawn} if drawn else {})
    missing = f"the runs that it needs are missing, or did not all reach their own end{_diverged(runs)}"
    return row | {"verdict": NOT_APPLICABLE, "evidence": found or missing}


def _corrected(rows: Rows) -> list[tuple[dict[str, Any], float, float]]:
    """The rows that have tests, with p for and p against, corrected for the number of all rows."""
    p_for, p_against = (holm([row.get(f"p_{side}_alone", 1.0) for row in rows]) for side in ("for", "against"))
    return [parts for parts in zip(rows, p_for, p_against, strict=True) if "p_for_alone" in parts[0]]


def _verdict(p_for: float, p_against: float) -> str:
    return SUPPORTED if p_for <= LEVEL else CONTRADICTED if p_against <= LEVEL else INCONCLUSIVE


def _leaning(row: Mapping[str, Any], number: int, level: float) -> dict[str, Any]:
    """The verdict that is nearer, and about how many runs it would take; none where more runs lead to neither."""
    p, verdict = min((row["p_for_alone"], SUPPORTED), (row["p_against_alone"], CONTRADICTED))
    needed = runs_that_decide(p, number, level)
    return {"runs": number} | ({"leans": verdict, "runs_that_decide": int(needed)} if math.isfinite(needed) else {})


def _diverged(runs: pd.DataFrame) -> str:
    """Which runs diverged, as one reason why they did not reach their own end."""
    if "outcome" not in runs:  # of what is not training
        return ""
    names = [row_name(row) for row in runs.to_dict("records")]
    by_name = (runs["outcome"] == "diverged").groupby(names, sort=False).agg(["sum", "size"])
    counts = [f"{row['sum']} of {row['size']} at {name}" for name, row in by_name.iterrows() if row["sum"]]
    return f" (diverged: {', '.join(counts)})" if counts else ""


def _round(p: float) -> float:
    return float(f"{p:.3g}")
