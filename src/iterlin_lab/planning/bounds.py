"""What training likely takes, and at most."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.settings.solvers import solver_of

FITTED = 0.1  # of its step limit, by which a flow with phases of a given K has likely fitted its training set
LEAST = 4  # evaluations of a phase, however short: three of one step of the method, and its estimate of the curvature


class Bounds(NamedTuple):
    """Seconds or evaluations that something likely takes, and at most."""

    likely: float
    most: float

    def times(self, factor: float) -> "Bounds":
        return Bounds(self.likely * factor, self.most * factor)

    def plus(self, amount: float) -> "Bounds":
        return Bounds(self.likely + amount, self.most + amount)

    @staticmethod
    def exactly(amount: float) -> "Bounds":
        return Bounds(amount, amount)

    @staticmethod
    def sum(parts: Iterable["Bounds"]) -> "Bounds":
        found = list(parts)
        return Bounds(math.fsum(part.likely for part in found), math.fsum(part.most for part in found))


def evaluations(recipe: Recipe) -> Bounds:
    """Of the gradient, or products that cost as much, in a run."""
    solver, num_steps, period = solver_of(recipe.solver), recipe.training["num_steps"], recipe.period
    seen = solver.evaluations(num_steps, num_records(recipe))
    if period is None or period == 1 or period >= num_steps:
        return Bounds(seen, seen)
    phases = num_steps / period
    of_phases = phases * min(period, max(LEAST, solver.evaluations_a_phase(period)))
    return Bounds(max(seen, FITTED * of_phases), max(seen, of_phases))


def num_records(recipe: Recipe) -> float:
    """The records of a run, about."""
    training = recipe.training
    return math.log10(training["num_steps"] / training["first_record"]) * training["records_per_decade"] + 1
