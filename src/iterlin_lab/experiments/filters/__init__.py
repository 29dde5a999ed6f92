"""E-FILTER (T fig. 6) and B-NTK: first-layer filters and tangent kernels of the networks of E-AUG, run by run."""

from iterlin_lab.experiments.experiment import Experiment
from iterlin_lab.experiments.filters.settings import Scope, check

EXPERIMENT = Experiment(
    name="filters",
    ids=("E-FILTER", "B-NTK"),
    scope=Scope,
    stage="measure",
    order=120,
    argument="features",
    differs=(
        "T compares drawings of three filters by eye. A cosine over all filters is another measure, and the part of "
        "its training that K = 1 has behind it depends on when its run ends."
    ),
    check=check,
    needs=("filters", "parts", "activations"),
)
