"""What all experiments have, as the report takes it."""

import pandas as pd

from iterlin_lab.config import load
from iterlin_lab.experiments import EXPERIMENTS
from tests.clone import ROOT

FAMILIES = {family.id: family for experiment in EXPERIMENTS.values() for family in experiment.families}
FIGURES = {name: draw for experiment in EXPERIMENTS.values() for name, draw in experiment.figures.items()}
TRAINED = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.label}


def tables_of(scale, *experiments):
    """The tables of these experiments, from their results in the present folder."""
    return {name: table for one in experiments for name, table in EXPERIMENTS[one].tables(scale).items()}


def text_of(scale, tables, *experiments):
    """What the report says of these experiments."""
    return "".join(part for one in experiments for part in EXPERIMENTS[one].section(scale, tables))


def scopes(experiment):
    """What the presets of params.yaml have for an experiment, by their names."""
    presets = load(ROOT / "params.yaml").presets
    return {name: EXPERIMENTS[experiment].of(scale) for name, scale in presets.items() if getattr(scale, experiment)}


def recipes(experiment, scale):
    """The recipes of its cells, by the folders of these."""
    run = EXPERIMENTS[experiment].module("run")
    assert run
    return run.cells(EXPERIMENTS[experiment].of(scale))


def levelling_off(folder, K, runs, late=0.0):
    """Write curves of runs whose first phase of K steps takes off a part `late` of its loss in its second half."""
    losses = {0: 1.0, K // 2: 0.2 + 0.8 * late, K: 0.2, K + 1: 0.2}
    rows = [
        {"run": run, "step": step, "phase_step": step if step <= K else 1, "feature_updates": int(step > K)}
        | {"proxy_train_loss": loss}
        for run in runs
        for step, loss in losses.items()
    ]
    pd.DataFrame(rows).to_csv(folder / "curves.csv", index=False)
