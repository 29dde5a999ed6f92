"""The mathematics. It knows jax, equinox and optax, and nothing of data, files, params.yaml, DVC or MLflow."""

from iterlin.core.curvature import ggn_max_eigenvalue as ggn_max_eigenvalue
from iterlin.core.divergence import Divergence as Divergence
from iterlin.core.kernels import empirical_ntk as empirical_ntk
from iterlin.core.kernels import empirical_ntk_by_leaf as empirical_ntk_by_leaf
from iterlin.core.linearise import Linearised as Linearised
from iterlin.core.linearise import functional as functional
from iterlin.core.losses import accuracy as accuracy
from iterlin.core.losses import cross_entropy as cross_entropy
from iterlin.core.losses import squared_error as squared_error
from iterlin.core.schedules import Continuously as Continuously
from iterlin.core.schedules import Every as Every
from iterlin.core.schedules import Never as Never
from iterlin.core.schedules import OnConvergence as OnConvergence
from iterlin.core.schedules import Schedule as Schedule
from iterlin.core.solvers import ClosedForm as ClosedForm
from iterlin.core.solvers import FirstOrder as FirstOrder
from iterlin.core.solvers import Flow as Flow
from iterlin.core.solvers import Solver as Solver
from iterlin.core.solvers import Stepwise as Stepwise
from iterlin.core.solvers import adam as adam
from iterlin.core.solvers import sgd as sgd
from iterlin.core.training import Outcome as Outcome
from iterlin.core.training import Result as Result
from iterlin.core.training import Run as Run
from iterlin.core.training import train as train
from iterlin.core.training import train_many as train_many
