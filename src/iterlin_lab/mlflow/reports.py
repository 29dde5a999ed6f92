"""The report in MLflow: whole, and for each experiment its figures and what came of its claims."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iterlin_lab.experiments import chosen
from iterlin_lab.layout import Layout
from iterlin_lab.mlflow.cells import Results
from iterlin_lab.mlflow.metrics import scalars
from iterlin_lab.mlflow.pages import about, describe
from iterlin_lab.mlflow.provenance import provenance
from iterlin_lab.mlflow.store import NOTE, Store, Version
from iterlin_lab.settings.shared import Shared

ABOUT = "The reports of this scale, with the settings that all cells share. Every experiment has a page of its own."


def show_report(results: Results, pages: Mapping[str, Store], known: dict[str, str]) -> None:
    """Show the report, and on the page of each experiment its figures and claims, where these are not `known` yet."""
    scale, layout = results.scale, Layout(results.scale.name)
    claims = json.loads(layout.evidence.read_text())
    for experiment in chosen(scale):
        own = {name: claim for name, claim in claims.items() if name.rpartition("-")[0] in experiment.ids}
        figures = [path for name in experiment.figures if (path := layout.figures / f"{name}.png").exists()]
        content = [json.dumps([about(experiment), own]).encode(), *(path.read_bytes() for path in figures)]
        version = Version(str(layout.figures / experiment.name), hashlib.sha256(b"".join(content)).hexdigest())
        if known.get(version.path) == version.hash:
            continue
        describe(pages[experiment.name], experiment, own.values())
        if figures:
            _show(pages[experiment.name], "Figures and claims", version, f"plots@{scale.name}", own, figures)
        known[version.path] = version.hash
    settings = dict(_flat(scale.model_dump(include=set(Shared.model_fields))))
    version = Version(str(layout.report), results.report_hash)
    store = Store(f"iterlin/{scale.name}", {NOTE: ABOUT})
    _show(store, f"Report, {scale.name}", version, f"report@{scale.name}", claims, [layout.report], settings)


def _show(
    store: Store,
    name: str,
    version: Version,
    stage: str,
    claims: Mapping[str, dict[str, Any]],
    artifacts: list[Path],
    params: Mapping[str, Any] | None = None,
) -> None:
    """A run with these files or folders, and how many of the claims came out in which way."""
    if store.has(version):
        return
    run = store.create(name, version.tags | provenance(stage) | {"level": "report", "present": "yes"})
    verdicts = Counter(claim["verdict"] for claim in claims.values())
    counts = {f"claims/{verdict}": float(count) for verdict, count in verdicts.items()}
    store.log(run, scalars(counts, None), params)
    for path in artifacts:
        store.client.log_artifact(run, str(path))
    store.finish(run)
    store.put_on_top(version, run)


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
