"""The experiments whose results are cells of training runs, by their stages. Nothing here imports jax."""

from collections.abc import Callable
from typing import NamedTuple

from iterlin_lab.config import Scale
from iterlin_lab.experiments.adam import cells as adam
from iterlin_lab.experiments.augmentation import cells as augmentation
from iterlin_lab.experiments.batches import cells as batches
from iterlin_lab.experiments.damp_ce import cells as damp_ce
from iterlin_lab.experiments.data_scaling import cells as data_scaling
from iterlin_lab.experiments.mnist import cells as mnist
from iterlin_lab.experiments.recipe import Recipe


class Experiment(NamedTuple):
    """Its id, its cells, and what one is called."""

    id: str
    cells: Callable[[Scale], dict[str, list[Recipe]]]
    label: str = "{}"


# Those of the lecture: tables and no training runs, so that MLflow has no cells of them.
LECTURE = ("kernel_limit", "staircase", "lazy_flow", "decay", "one_neuron")
EXPERIMENTS = {
    "adam": Experiment("E-ADAM", adam),
    "damp_ce": Experiment("E-DAMPCE", damp_ce, "λ = {}"),
    "mnist": Experiment("E-MNIST", mnist, "K = {}"),
    "augmentation": Experiment("E-AUG", augmentation, "K = {}"),
    "batches": Experiment("E-BATCH", batches),
    "data_scaling": Experiment("E-DATA", data_scaling),
}
