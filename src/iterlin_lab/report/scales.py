"""The reports of several scales beside each other: which verdicts agree, and which do not."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from iterlin_lab.claims.verdicts import CONTRADICTED, NOT_APPLICABLE, SUPPORTED, VERDICTS
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.report.answer import Claims
from iterlin_lab.report.names import typeset
from iterlin_lab.report.setting import in_one_line
from iterlin_lab.settings.shared import Shared


def beside(presets: Mapping[str, Shared], reports: Path) -> str:
    """The scales that have a report, and every claim that two of them or more have tested, in Markdown.

    **Raises**: `ValueError` if there is no report.
    """
    found = {
        name: json.loads(path.read_text()) for name in presets if (path := reports / name / "evidence.json").exists()
    }
    if not found:
        raise ValueError(f"no report is in {reports}: run the pipeline first")
    text = f"# Reports\n\n{_scales(presets, found)}\n"
    if shared := _shared(found):
        text += f"\n## Claims at several scales\n\n{_agreement(found, shared)}\n\n{_table(found, shared)}\n"
    return typeset(text)


def _scales(presets: Mapping[str, Shared], found: Mapping[str, Claims]) -> str:
    """A row a scale: what it trains on, and how many verdicts of each kind it has."""
    rows: list[dict[str, str]] = []
    for name, claims in found.items():
        data = presets[name].data.name
        setting = in_one_line(presets[name], {"name": data, "image_shape": DATA_SETS[data].image_shape})
        counts = Counter(claim["verdict"] for claim in claims.values())
        verdicts = {verdict: str(counts[verdict]) for verdict in VERDICTS}
        rows.append({"scale": f"[{name}]({name}/REPORT.md)", "images": setting, **verdicts})
    return pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)


def _shared(found: Mapping[str, Claims]) -> list[str]:
    """The claims with runs that can show them at two scales or more."""
    each = (item for claims in found.values() for item in claims.items())
    tested = Counter(name for name, claim in each if claim["verdict"] != NOT_APPLICABLE)
    return [name for name, number in tested.items() if number > 1]


def _agreement(found: Mapping[str, Claims], shared: list[str]) -> str:
    verdicts = {name: {claims[name]["verdict"] for claims in found.values() if name in claims} for name in shared}
    same = [name for name in shared if len(verdicts[name] - {NOT_APPLICABLE}) == 1]
    opposed = [name for name in shared if {SUPPORTED, CONTRADICTED} <= verdicts[name]]
    agree = f"{len(same)} of {len(shared)} verdicts are the same wherever the claim was tested."
    return f"{agree} Supported at one scale and contradicted at another: {', '.join(opposed) or 'none'}."


def _table(found: Mapping[str, Claims], shared: list[str]) -> str:
    """A row a claim, with its verdict at every scale that has one of them."""
    found = {scale: claims for scale, claims in found.items() if not claims.keys().isdisjoint(shared)}
    rows: list[dict[str, str]] = []
    for name in shared:
        at = {scale: claims[name] for scale, claims in found.items() if name in claims}
        first = next(iter(at.values()))
        said = {
            scale: f"**{at[scale]['verdict']}**: {at[scale]['evidence']}" if scale in at else "–" for scale in found
        }
        rows.append({"id": name, "claim": f"{first['statement']} ({first['source']})", **said})
    table = pd.DataFrame(rows).map(lambda text: text.replace("|", r"\|"))  # which would end a cell of the table
    return table.to_markdown(index=False, disable_numparse=True)
