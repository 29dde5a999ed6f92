"""The body of the report: experiments grouped by what they argue about, each with its verdicts and how to run it."""

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from iterlin_lab.report.tables import plain_cell

TITLES = {
    "updates": "How few feature updates suffice",
    "features": "Which features are learnt, and what for",
    "comparison": "K beside other dials",
    "damping": "Damping, and lazy problems that are solved",
    "divergence": "Which runs are stable",
    "lecture": "The lecture: linearised networks",
    "instrument": "Checks of the instrument",
}
OTHERS = "Further experiments"


def body(scale: Any, experiments: Iterable[Any], tables: Mapping[str, pd.DataFrame], claims: Mapping) -> str:
    """All sections, with headings a level lower, below those of what they argue about."""
    parts: dict[str, list[str]] = {title: [] for title in (*TITLES.values(), OTHERS)}
    for experiment in experiments:
        own = experiment.section(scale, tables)
        if own:
            why = f"*Why it may differ.* {experiment.differs}" if experiment.differs else ""
            texts = [*own, verdicts(experiment, claims), why, again(scale, experiment, tables)]
            parts[TITLES.get(experiment.argument, OTHERS)] += map(_lower, filter(None, texts))
    return "\n\n".join("\n\n".join([f"## {title}", *texts]) for title, texts in parts.items() if texts)


def _lower(text: str) -> str:
    return "\n".join(f"#{line}" if line.startswith("##") else line for line in text.splitlines())


def verdicts(experiment: Any, claims: Mapping[str, Mapping[str, Any]]) -> str:
    """What came of the claims on it; nothing if it has none."""
    own = [claim.id for family in experiment.families for claim in family.claims]
    rows = pd.DataFrame(
        {
            "": name,
            "claim": claims[name]["statement"],
            "the source found": claims[name]["paper"] or "–",
            "these runs find": f"**{claims[name]['verdict']}**: {claims[name]['evidence']}",
        }
        for name in own
    ).map(plain_cell)
    return rows.to_markdown(index=False, disable_numparse=True) if own else ""


def again(scale: Any, experiment: Any, tables: Iterable[str]) -> str:
    """Folded: the settings, the files with all numbers, and the command that runs it again."""
    stages = experiment.stages(scale)
    begins = (experiment.name, *experiment.figures)
    csv = ", ".join(f"[{name}](tables/{name}.csv)" for name in sorted(tables) if name.startswith(begins))
    svg = ", ".join(f"[{name}](figures/{name}.svg)" for name in experiment.figures)
    said = [f"`make repro ONLY={experiment.name}` runs it (DVC stages: {_few(stages)})"]
    said += [f"Tables: {csv}"] * bool(csv) + [f"Figures: {svg}"] * bool(svg)
    return f"""<details><summary>{experiment.ids[0]}: settings, files, and how to run it again</summary>

{". ".join(said)}.

```yaml
{_settings(scale, experiment.name)}
```

</details>"""


def _settings(scale: Any, name: str) -> str:
    """The section of params.yaml, as it may stand there."""
    yaml, text = YAML(typ="safe", pure=True), StringIO()
    yaml.sort_base_mapping_type_on_output = False  # pyright: ignore
    yaml.default_flow_style, yaml.width = None, 100
    yaml.dump({name: getattr(scale, name).model_dump(mode="json")}, text)
    return text.getvalue().rstrip()


def _few(stages: Sequence[str]) -> str:
    shown = [f"`{stage}`" for stage in stages]
    return ", ".join(shown) if len(shown) < 3 else f"{shown[0]} to {shown[-1]}"
