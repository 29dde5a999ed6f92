"""How a lazy phase is solved."""

from iterlin.core.solvers.closed_form import ClosedForm as ClosedForm
from iterlin.core.solvers.first_order import FirstOrder as FirstOrder
from iterlin.core.solvers.first_order import adam as adam
from iterlin.core.solvers.first_order import sgd as sgd
from iterlin.core.solvers.flow import Flow as Flow
from iterlin.core.solvers.ridge import Ridge as Ridge
from iterlin.core.solvers.solver import Setup as Setup
from iterlin.core.solvers.solver import Solver as Solver
from iterlin.core.solvers.solver import Stepwise as Stepwise
from iterlin.core.solvers.truncated import Truncated as Truncated
