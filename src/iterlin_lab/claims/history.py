"""The verdicts of all committed reports of a preset, from the history of git."""

import json
import subprocess
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from iterlin_lab.claims.verdicts import CONTRADICTED, INCONCLUSIVE, NOT_APPLICABLE, SUPPORTED
from iterlin_lab.layout import Layout

EARLIER = {
    "reproduced": SUPPORTED,
    "not reproduced": CONTRADICTED,
    "not testable at this scale": INCONCLUSIVE,
}


def history(scale: Any) -> pd.DataFrame:
    """A row a commit that changed verdicts, the oldest first: commit, date, seed, what it says, and every claim."""
    path = Layout(scale.name).claims
    rows, last = [], None
    for line in _git("log", "--reverse", "--format=%h\t%as\t%s", "--", str(path)).splitlines():
        commit, date, subject = line.split("\t", 2)
        found = json.loads(_git("show", f"{commit}:./{path}"))
        verdicts = found.get("verdict") or {claim: row["verdict"] for claim, row in found.items()}  # as of old
        if verdicts != last:
            rows.append({"commit": commit, "date": date, "seed": _seed(commit, scale.name), "what": subject} | verdicts)
        last = verdicts
    return pd.DataFrame(rows)


def changes(found: pd.DataFrame) -> pd.DataFrame:
    """How often the verdict on every claim changed from one report to the next, `changed`, out of `pairs` of reports.

    *Inconclusive* and *not applicable* count as one: early reports had one word for both.
    """
    claims = found.drop(columns=["commit", "date", "seed", "what"])
    said = claims.replace(EARLIER).replace(NOT_APPLICABLE, INCONCLUSIVE)
    both = said.notna() & said.shift().notna()
    return pd.DataFrame({"changed": (both & (said != said.shift())).sum(), "pairs": both.sum()})


def in_words(found: pd.DataFrame) -> str:
    """How often verdicts changed from one report to the next, of all that stand in two that follow each other."""
    total = changes(found).sum()
    return f"{len(found)} reports; from one to the next, {total['changed']} of {total['pairs']} verdicts changed"


def _seed(commit: str, scale: str) -> int | None:
    """The seed that params.yaml had then; None where it has no such preset."""
    params = YAML(typ="safe").load(_git("show", f"{commit}:./params.yaml"))
    return params.get("presets", {}).get(scale, {}).get("seed")


def _git(*command: str) -> str:
    return subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout
