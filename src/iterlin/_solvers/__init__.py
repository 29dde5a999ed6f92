"""How a lazy phase is solved."""

from iterlin._solvers.closed_form import ClosedForm as ClosedForm
from iterlin._solvers.dual import Dual as Dual
from iterlin._solvers.first_order import FirstOrder as FirstOrder
from iterlin._solvers.first_order import adam as adam
from iterlin._solvers.first_order import as_solver as as_solver
from iterlin._solvers.first_order import sgd as sgd
from iterlin._solvers.flow import Flow as Flow
from iterlin._solvers.ridge import Ridge as Ridge
from iterlin._solvers.solver import Setup as Setup
from iterlin._solvers.solver import Solver as Solver
from iterlin._solvers.stepwise import Stepwise as Stepwise
from iterlin._solvers.stepwise import Taken as Taken
from iterlin._solvers.truncated import Truncated as Truncated
