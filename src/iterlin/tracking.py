"""MLflow as a view of DVC's outputs: a parent run for the sweep, a child run for each cell.

A cell is known by its stage and DVC's hash of its output, so showing it twice adds nothing. The results never depend on
MLflow, and hold nothing of it.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from ruamel.yaml import YAML

from iterlin.config import Scale
from iterlin.layout import Layout
from iterlin.tables import interval, mean_curves

BATCH = 1000  # metrics that MLflow takes in one request
ROOT = Path(os.environ.get("DVC_ROOT", ".")).resolve()
DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}


class Cell(NamedTuple):
    """An output of DVC that is shown as one run."""

    stage: str
    path: Path
    hash: str
    name: str
    params: dict[str, Any]


def uri() -> str:
    """Where MLflow's data are: `MLFLOW_TRACKING_URI`, or a database in the project's folder."""
    return os.environ.get("MLFLOW_TRACKING_URI", f"sqlite:///{ROOT / 'mlflow.db'}")


def cells(scale: Scale) -> list[Cell]:
    """The cells of the sweep that dvc.lock knows and that are here, in the order of params.yaml."""
    lock = YAML(typ="safe").load(ROOT / "dvc.lock")["stages"]
    layout, regime = Layout(scale.name), json.loads((ROOT / Layout(scale.name).regime).read_text())
    shared = {"learning_rate": regime["learning_rate"], "solver": "sgd", "runs": scale.k_sweep.num_seeds}
    tgn = {"period": "on convergence", "solver": "adam", "runs": scale.tgn_baseline.num_seeds}
    tgn |= scale.tgn_baseline.model_dump(exclude={"num_seeds"})
    listed = {
        f"k_sweep@{scale.name}-{period}": (
            layout.results / "k_sweep" / period,
            f"K = {period}",
            {"period": period} | shared,
        )
        for period in scale.k_sweep.periods
    }
    listed[f"tgn_baseline@{scale.name}"] = (layout.results / "tgn", "TGN", tgn)
    return [
        Cell(stage, path, lock[stage]["outs"][0]["md5"], name, params)
        for stage, (path, name, params) in listed.items()
        if stage in lock and (ROOT / path).exists()
    ]


def sync(scale: Scale) -> int:
    """Show every cell that MLflow does not have yet; the number of new ones.

    Best effort: what goes wrong becomes a warning, since no result depends on it.
    """
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    try:
        return _sync(scale)
    except Exception as error:
        text = " ".join(str(error).split())
        print(f"warning: nothing shown in MLflow at {uri()}: {text}. Try `iterlin sync` later", file=sys.stderr)
        return 0


def _sync(scale: Scale) -> int:
    import mlflow  # takes seconds to import

    listed = cells(scale)
    client = mlflow.MlflowClient(uri())
    experiment = client.get_experiment_by_name("iterlin")
    artifacts = None if "MLFLOW_TRACKING_URI" in os.environ else (ROOT / "mlartifacts").as_uri()
    tags = {"mlflow.experimentKind": "custom_model_development"}  # so that the page opens on the runs
    experiment_id = experiment.experiment_id if experiment else client.create_experiment("iterlin", artifacts, tags)

    settings = scale.model_dump(exclude={"k_sweep": {"periods"}, "sensitivity": True})
    tags = {"stage": "k_sweep", "scale": scale.name, "settings": _digest(settings)}
    parent = _find(client, experiment_id, tags)
    if parent is None:
        parent = client.create_run(
            experiment_id, tags=tags | _provenance(), run_name=f"K-sweep, {scale.name}"
        ).info.run_id
        for name, value in _flat(settings):
            client.log_param(parent, name, value)
        client.set_terminated(parent)

    new = 0
    for cell in listed:
        tags = {"stage": cell.stage, "output_hash": cell.hash, "mlflow.parentRunId": parent}
        if _find(client, experiment_id, tags) is None:
            run = client.create_run(
                experiment_id, tags=tags | _provenance() | {"scale": scale.name}, run_name=cell.name
            )
            _show(client, run.info.run_id, cell, scale)
            client.set_terminated(run.info.run_id)
            new += 1
    if new:
        client.log_artifacts(parent, str(ROOT / Layout(scale.name).report), "report")
    return new


def _find(client, experiment_id: str, tags: dict[str, str]) -> str | None:
    """The finished run with these tags. One that was cut off is not finished, and is shown anew."""
    query = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
    found = client.search_runs([experiment_id], f"{query} and attributes.status = 'FINISHED'", max_results=1)
    return found[0].info.run_id if found else None


def _show(client, run_id: str, cell: Cell, scale: Scale) -> None:
    from mlflow.data.numpy_dataset import from_numpy
    from mlflow.entities import DatasetInput, Metric, Param

    data = dict(np.load(ROOT / Layout(scale.name).data))
    dataset = from_numpy(data["images"], targets=data["labels"], name=scale.data.name)
    client.log_inputs(run_id, [DatasetInput(dataset._to_mlflow_entity())])
    card = json.loads((ROOT / Layout(scale.name).data_card).read_text())
    params = cell.params | {"data_source": card["source"], "data_sha256": card["sha256"]}
    client.log_batch(run_id, params=[Param(name, str(value)) for name, value in params.items()])

    runs = pd.read_csv(ROOT / cell.path / "runs.csv")
    curves = mean_curves(pd.read_csv(ROOT / cell.path / "curves.csv").assign(cell=cell.name))
    metrics = [Metric(name, value, 0, step) for name, step, value in _points(curves)]
    for name in runs.columns:
        if name.endswith(("_final", "_stopped")):
            metrics += [Metric(f"{name}_{part}", value, 0, 0) for part, value in interval(runs[name]).items()]
    for start in range(0, len(metrics), BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + BATCH])
    client.log_artifacts(run_id, str(ROOT / cell.path), "cell")


def _points(curves: pd.DataFrame) -> Iterator[tuple[str, int, float]]:
    """Means over runs, grouped in MLflow's page by model: `network/test_accuracy`, `proxy/test_accuracy`."""
    for column in curves.columns:
        if column.endswith("_mean"):
            name = column.removesuffix("_mean").replace("network_", "network/").replace("proxy_", "proxy/")
            for step, value in zip(curves["step"], curves[column], strict=True):
                yield name, int(step), float(value)


def _digest(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _provenance() -> dict[str, str]:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    return {"git_commit": git("rev-parse", "HEAD"), "dirty": str(bool(git("status", "--porcelain")))}


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
