"""The run of the sweep, and in it one for every cell that MLflow lacks."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np

from iterlin_lab.layout import Layout
from iterlin_lab.mlflow import place
from iterlin_lab.mlflow.cell_runs import Context, show_cell
from iterlin_lab.mlflow.cells import Cell, Sweep
from iterlin_lab.mlflow.store import PARENT, Store
from iterlin_lab.mlflow.trained import trainings

NOTE = (
    "Nested in this run are the cells of the sweep, with means over their seeds, and nested in each are its seeds. "
    "The report is among the artifacts."
)


def show(sweep: Sweep) -> Iterator[Cell]:
    """Show what MLflow lacks; each cell that is new, once it is there."""
    store = Store()
    layout, known, versions = Layout(sweep.scale), place.known(), sweep.versions()
    context = Context(
        store=store,
        parent=_sweep_run(store, sweep),
        scale=sweep.scale,
        tags=_provenance(),
        data=json.loads(layout.data_card.read_text()),
        example=np.load(layout.data, allow_pickle=False)["images"][:2].astype(np.float32),
    )
    for cell in sweep.cells:
        path = str(cell.path)
        if known.get(path) != versions[path]:
            if show_cell(context, cell):
                yield cell  # it is there, also if what follows fails and is done the next time
            store.clear({"level": "live", "stage": cell.stage})
            known[path] = versions[path]
            place.remember(known)
    _clear_empty(store, sweep.scale, but=context.parent)
    path = str(sweep.report)
    if path in versions and known.get(path) != versions[path]:
        store.client.log_artifacts(context.parent, path, "report")
        place.remember(known | {path: versions[path]})


def _sweep_run(store: Store, sweep: Sweep) -> str:
    """The run that the cells are nested in. It lasts from the first to the last training that was here."""
    trained = [training for cell in sweep.cells for training in trainings(cell.path).values()]
    tags = {"level": "sweep", "scale": sweep.scale, "settings": sweep.digest}
    finished = [run.info.run_id for run in store.find(tags) if run.info.status == "FINISHED"]
    if finished:
        run = finished[0]
    else:
        store.clear(tags)
        tags |= _provenance() | {"mlflow.note.content": NOTE}
        run = store.create(sweep.name, tags, min((training.start for training in trained), default=None))
        store.log(run, params=dict(_flat(sweep.settings)))
        store.finish(run)
    if trained:
        store.finish(run, max(training.end for training in trained))
    return run


def _clear_empty(store: Store, scale: str, but: str) -> None:
    """Take away the sweeps whose cells have all moved to the one of the present settings."""
    for run in store.find({"level": "sweep", "scale": scale}):
        if run.info.run_id != but and not store.find({PARENT: run.info.run_id}):
            store.client.delete_run(run.info.run_id)


def _provenance() -> dict[str, str]:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()

    return {"git_commit": git("rev-parse", "HEAD"), "dirty": str(bool(git("status", "--porcelain")))}


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
