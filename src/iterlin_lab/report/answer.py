"""The first screen of the report: the question, what the verdicts answer, how many there are of each, the setting."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from iterlin_lab.claims.effects import PER_DOUBLING, POINTS
from iterlin_lab.claims.verdicts import CONTRADICTED, INCONCLUSIVE, NOT_APPLICABLE, SUPPORTED, VERDICTS
from iterlin_lab.report.tables import markdown_table

QUESTION = "How much feature learning does a network need?"
SOURCES = {
    "T": "T, the newest version of the paper",
    "W": "W, its workshop version",
    "L": "L, a lecture on linearised networks",
    "ours": "ours, after these",
    "choices": "choices of this implementation",
}

Claims = Mapping[str, dict[str, Any]]


class Answer(NamedTuple):
    """What an experiment answers: sentences, a figure in Markdown, and what its verdicts do not say."""

    sentences: Sequence[str]
    figure: str
    caveat: str


def sentence(claim: str, claims: Claims, whether: str, fails: str, *numbers: str, holds: str = "") -> str:
    """What the verdict on a claim says: that it `holds`, that it `fails`, or that `whether` it does is open.

    It holds in the words of `whether`, where it has none of its own. `numbers` are put beside any verdict.
    """
    verdict = claims[claim]["verdict"]
    said = {
        SUPPORTED: holds or whether[0].upper() + whether[1:],
        CONTRADICTED: fails,
        INCONCLUSIVE: f"These runs do not decide whether {whether}",
        NOT_APPLICABLE: f"These runs cannot show whether {whether}",
    }[verdict]
    found = "; ".join(
        filter(None, (*numbers, farthest(claims[claim].get("effects", ())), f"[{claim}](#claims): **{verdict}**"))
    )
    return f"{said} ({found})."


def farthest(effects: Sequence[Mapping[str, Any]]) -> str:
    """The effect in points that is farthest from zero, in words; nothing where there is none."""
    if not (effects := [effect for effect in effects if effect["unit"] in (POINTS, PER_DOUBLING)]):
        return ""
    effect = max(effects, key=lambda one: abs(one["mean"]))
    name = f" at {effect['name']}" if len(effects) > 1 else ""
    largest = "largest difference" if len(effects) > 1 else "difference"
    numbers = (f"{effect[end]:+.1f}".replace("-", "−") for end in ("mean", "low", "high"))
    return "{}{} {} {}, 95 % interval {} to {}".format(largest, name, next(numbers), effect["unit"], *numbers)


def opening(answers: Sequence[Answer], setting: str, claims: Claims) -> str:
    """The first screen of the report: the first answer, so that it fits, or no question where there is none."""
    sentences, figure, caveat = answers[0] if answers else Answer((), "", "")
    places = {source: place for place, source in enumerate(SOURCES.values())}
    ordered = dict(sorted(claims.items(), key=lambda item: places.get(_source(item[1]), len(places))))
    by_source = counts(ordered, "source", lambda name: _source(claims[name]))
    parts = [
        f"## {QUESTION}\n\n" + "\n".join(f"- {text}" for text in sentences) if sentences else "",
        f"**Setting**: {setting}." + (f" **Largest caveat**: {caveat}" if caveat else ""),
        figure,
        f"What the sources claim, and how many of the claims these runs support:\n\n{by_source}",
    ]
    return "\n\n".join(filter(None, parts))


def counts(claims: Claims, title: str, of: Callable[[str], str]) -> str:
    """A table of how many claims have each verdict: a row for everything that they are `of`, and one for all."""
    found: dict[str, Counter[str]] = {}
    for name, claim in claims.items():
        found.setdefault(of(name), Counter()).update([claim["verdict"]])
    found["all"] = sum(found.values(), Counter())
    columns = {verdict: [str(row[verdict]) for row in found.values()] for verdict in VERDICTS}
    totals = [str(row.total()) for row in found.values()]
    return markdown_table(pd.DataFrame({title: list(found)} | columns | {"claims": totals}))


def _source(claim: Mapping[str, Any]) -> str:
    """The source of a claim, in words; another than these stands as it is."""
    source: str = claim["source"]
    return SOURCES.get(source.split()[0].strip(",:"), source)
