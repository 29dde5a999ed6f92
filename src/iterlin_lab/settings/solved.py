"""Lazy problems that are solved to a certificate, in params.yaml."""

from iterlin_lab.settings.base import PerDecade, Seeds, Steps, Strict
from iterlin_lab.settings.solvers import CertifiedSolver


class Solved(Strict):
    """Truncated Gauss–Newton: which solver, up to how many of its own steps, and how often it is recorded."""

    solver: CertifiedSolver
    num_steps: Steps
    records_per_decade: PerDecade
    num_seeds: Seeds
