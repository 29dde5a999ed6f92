"""The solvers of params.yaml, one file each. Whatever lists them derives the list from here."""

from typing import TYPE_CHECKING, Any, get_args

from iterlin_lab.settings.base import one_of
from iterlin_lab.settings.solvers.adam import Adam as Adam
from iterlin_lab.settings.solvers.flow import Flow as Flow
from iterlin_lab.settings.solvers.gradient_descent import GradientDescent as GradientDescent
from iterlin_lab.settings.solvers.solver import Certified, Solver
from iterlin_lab.settings.solvers.truncated import Truncated as Truncated

_ALL = [kind for kind in list(vars().values()) if isinstance(kind, type) and issubclass(kind, Solver)]
_NAMES = {kind: get_args(kind.model_fields["name"].annotation) for kind in _ALL}
SOLVERS: dict[str, type[Solver]] = {names[0]: kind for kind, names in _NAMES.items() if names}

if TYPE_CHECKING:
    PhaseSolver = Solver
    CertifiedSolver = Certified
else:
    # For phases of a given K, and for lazy problems that are solved to a certificate.
    PhaseSolver = one_of(kind for kind in SOLVERS.values() if not issubclass(kind, Certified))
    CertifiedSolver = one_of(kind for kind in SOLVERS.values() if issubclass(kind, Certified))


def solver_of(values: dict[str, Any]) -> Solver:
    """The solver that a recipe names, whose values were checked when the recipe was made."""
    return SOLVERS[values["name"]].model_construct(**values)
