"""Whether the lazy phases of a run are solved on the parameters, or in their dual."""

import math
from typing import Any, NamedTuple

import jax

from iterlin import BatchModel, Dual, Solver, Stepwise, dual_cost
from iterlin_lab.runs.recipes import Recipe, may_have_dual
from iterlin_lab.settings.solvers import solver_of


class Form(NamedTuple):
    """The form, and what chose it: how many evaluations a phase takes, and from how many on the dual costs less."""

    in_dual: bool = False
    expected: float = math.nan
    break_even: float = math.nan

    def of(self, solver: Stepwise) -> Solver:
        """The solver in this form."""
        return Dual(solver) if self.in_dual else solver

    def described(self) -> dict[str, float]:
        """What a row about the run says of the choice, if there was one; the report of `Dual` tells how it went."""
        if math.isnan(self.expected):
            return {}
        return {"expected_evaluations": self.expected, "break_even": self.break_even}


def choose(recipe: Recipe, model: Any, x: Any, trainable: Any) -> Form:
    """The form of a run that trains this model on the inputs x, the same whatever else the machine does.

    `auto` takes the dual where it is known to cost less: by the arithmetic of a processor, and within the memory that
    `Dual` may use. Where there is no dual, both `auto` and `dual` take the parameters.
    """
    if not has_dual(recipe, model):
        return Form()
    cost = dual_cost(model, x, batch_size=recipe.training["batch_size"], trainable=trainable)
    steps = min(recipe.period or math.inf, recipe.training["num_steps"])
    expected = solver_of(recipe.solver).evaluations_a_phase(steps)
    pays = expected > cost.break_even and cost.num_bytes <= Dual.max_bytes and jax.default_backend() == "cpu"
    return Form(pays or recipe.form == "dual", expected, cost.break_even)


def has_dual(recipe: Recipe, model: Any) -> bool:
    """Whether a run of this network may solve its lazy problems in their dual."""
    return may_have_dual(recipe) and not isinstance(model, BatchModel)
