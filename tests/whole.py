"""What all experiments have, as the report takes it."""

from iterlin_lab.experiments import EXPERIMENTS

FAMILIES = {family.id: family for experiment in EXPERIMENTS.values() for family in experiment.families}
FIGURES = {name: draw for experiment in EXPERIMENTS.values() for name, draw in experiment.figures.items()}
TRAINED = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.label}


def recipes(experiment, scale):
    """The recipes of its cells, by the folders of these."""
    run = EXPERIMENTS[experiment].module("run")
    assert run
    return run.cells(scale)
