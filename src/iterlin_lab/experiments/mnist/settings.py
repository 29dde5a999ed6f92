"""The section of params.yaml of E-MNIST."""

from iterlin_lab.settings.base import Compared, Initialisation, PerDecade, Positive, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Data, Shared
from iterlin_lab.settings.solvers import PhaseSolver


class MNIST(Strict):
    """E-MNIST: every K on full batches, on data and with an `initialisation` of its own, for `num_steps`."""

    data: Data
    initialisation: Initialisation
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    records_per_decade: PerDecade
    num_seeds: Seeds


class Scope(Shared):
    """What E-MNIST may depend on: what all share, and its section."""

    mnist: MNIST
