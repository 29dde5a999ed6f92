"""What the sources claim, and the verdicts."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from iterlin_lab.claims.effects import drawn, group
from iterlin_lab.claims.history import changes, in_words
from iterlin_lab.claims.verdicts import INCONCLUSIVE, LEVEL, VERDICTS
from iterlin_lab.report.answer import counts
from iterlin_lab.report.tables import plain_cell
from iterlin_lab.statistics import POWER


def claims_section(
    scale: str, claims: dict[str, dict[str, Any]], history: Path, links: Mapping[str, str] | None = None
) -> str:
    """A row a claim, with how often its verdict changed in the reports of the past, if there are any.

    `links` lead to the sections of experiments, by what their claims are called.
    """
    links = links or {}
    past = pd.read_csv(history) if history.exists() else None
    rows = pd.DataFrame(
        {
            "id": [_linked(name, group(name), links) for name in claims],
            "claim": [f"{claim['statement']} ({_of_source(claim)})" for claim in claims.values()],
            "verdict": list(map(_verdict, claims.values())),
            "evidence (accuracies in points, 95 %)": [claim["evidence"] for claim in claims.values()],
            "p: experiment, all": list(map(_p, claims.values())),
        }
        | ({} if past is None or len(past) < 2 else {"changed": _changed(past, list(claims))})
    ).map(plain_cell)
    return f"""## Claims

What the sources claim, and what these runs say: {_counts(claims)}. A claim is *supported* if its test has p ≤ {LEVEL},
*contradicted* if the test of its opposite has, *inconclusive* if neither has, and *not applicable at this scale* if
these runs cannot show it. An inconclusive claim leans to the verdict whose test is nearer; with the effect as it was
found, about so many runs would decide with a power of {POWER:.0%}. That two things coincide is shown by an equivalence
test. The margin is one point, which is what T calls comparable, where none is stated. The p-value is that of the test
which is nearer, corrected (Holm) for the claims of its experiment, which gives the verdict, and for all {len(claims)}.
{_of_all(claims)}
Claims and settings are written down before any run with the `seed` of the `{scale}` scale (see params.yaml), and are
settled on runs with other seeds, which no verdict uses. {_past(scale, past)}

{counts(claims, "experiment", lambda name: _linked(group(name), group(name), links))}

{_figure(claims)}{rows.to_markdown(index=False, disable_numparse=True)}"""


def _linked(text: str, name: str, links: Mapping[str, str]) -> str:
    return f"[{text}]({links[name]})" if name in links else text


def _figure(claims: dict[str, dict[str, Any]]) -> str:
    """The figure of the claims that have an effect in points of accuracy, and how many have none."""
    if not (number := len(drawn(claims))):
        return ""
    text = f"Means and 95 % intervals of the {number} claims with an effect in points of accuracy, and margins in grey."
    if others := len(claims) - number:
        text += f""" The other
{others} claims are in the table alone: they are on exponents, ratios, trends or shares, or lack runs."""
    return f"""![Effects, margins and verdicts of {number} claims](figures/claims.svg)

*{text}*

"""


def _of_source(claim: dict[str, Any]) -> str:
    """Where a claim is from, and what was found there if that is known."""
    return ": ".join(filter(None, (claim["source"], claim["paper"])))


def _verdict(claim: dict[str, Any]) -> str:
    """In words, with where an inconclusive one leans."""
    word = f"**{claim['verdict']}**"
    if claim["verdict"] != INCONCLUSIVE:
        return word
    if "leans" not in claim:
        return f"{word}, leans to neither"
    return f"{word}, leans to {claim['leans']}: {claim['runs']} runs, some {_rounded(claim['runs_that_decide'])} decide"


def _rounded(number: int) -> str:
    """Two digits, which is more than is known."""
    return f"{float(f'{number:.2g}'):.0f}"


def _p(claim: dict[str, Any]) -> str:
    if "p_for" not in claim:
        return "–"
    return f"{min(claim['p_for'], claim['p_against']):.2g}, {min(claim['p_for_of_all'], claim['p_against_of_all']):.2g}"


def _counts(claims: dict[str, dict[str, Any]]) -> str:
    found = Counter(claim["verdict"] for claim in claims.values())
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)


def _of_all(claims: dict[str, dict[str, Any]]) -> str:
    """Which verdicts the correction for all claims takes away."""
    gone = [name for name, claim in claims.items() if claim.get("verdict_of_all", claim["verdict"]) != claim["verdict"]]
    if not gone:
        return "The correction for all changes no verdict."
    return f"The correction for all makes {len(gone)} of them inconclusive: {', '.join(gone)}."


def _changed(past: pd.DataFrame, claims: list[str]) -> list[str]:
    counts = changes(past).reindex(claims).fillna(0).astype(int)
    return [f"{row['changed']} of {row['pairs']}" if row["pairs"] else "–" for _, row in counts.iterrows()]


def _past(scale: str, past: pd.DataFrame | None) -> str:
    if past is None:
        return "No earlier report of this scale is on record."
    seeds = ", ".join(f"{seed:g}" for seed in past["seed"].dropna().unique())
    if len(past) == 1:
        return f"One report of this scale is on record (reports/history/{scale}.csv), with the seed {seeds}."
    return (
        f"On record (reports/history/{scale}.csv) are {in_words(past)}, with the seeds {seeds} and other "
        "settings and processors; the last column says how often that of the claim did."
    )
