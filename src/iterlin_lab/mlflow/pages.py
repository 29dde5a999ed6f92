"""The page of an experiment in MLflow: what it is about, its view, and what came of its claims."""

import sys
from collections.abc import Iterable
from typing import Any

import iterlin_lab.experiments
from iterlin_lab.experiments import Experiment
from iterlin_lab.mlflow.store import NOTE, Store
from iterlin_lab.mlflow.views import TAG, links, view
from iterlin_lab.report.names import typeset


def page(scale: str, experiment: Experiment) -> Store:
    """The runs of an experiment of ours at this scale, on a page that says what they are."""
    store = Store(f"iterlin/{scale}/{experiment.name}", {})
    if store.is_new:
        describe(store, experiment, [])
    return store


def describe(store: Store, experiment: Experiment, claims: Iterable[dict[str, Any]]) -> None:
    """Write on the page what the experiment is, and each claim with its verdict and evidence; and save its view."""
    shown = f" Its cells: {links(store.experiment_id)}." if experiment.label else ""
    text = [about(experiment) + shown]
    text += [f"- **{claim['verdict']}**: {claim['statement']} *{claim['evidence']}*" for claim in claims]
    store.client.set_experiment_tag(store.experiment_id, TAG, view())
    store.client.set_experiment_tag(store.experiment_id, NOTE, typeset("\n\n".join(text)))


def about(experiment: Experiment) -> str:
    """The first line of its code."""
    return (sys.modules[f"{iterlin_lab.experiments.__name__}.{experiment.name}"].__doc__ or "").split("\n\n")[0]
