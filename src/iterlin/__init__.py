"""Iterative linearisation: train the first-order Taylor expansion of a network, and re-linearise every K steps.

The mathematics: it knows jax, equinox and optax, and nothing of data, files, params.yaml, DVC or MLflow. Those are in
`iterlin_lab`, the pipeline. `iterlin.two_layer` has the two-layer networks of a lecture, and their kernels.
"""

from importlib.metadata import version

from iterlin._batch_model import BatchModel as BatchModel
from iterlin._batches import FullBatch as FullBatch
from iterlin._batches import MiniBatch as MiniBatch
from iterlin._checkpoints import FileCheckpoints as FileCheckpoints
from iterlin._curvature import ggn_max_eigenvalue as ggn_max_eigenvalue
from iterlin._curvature import hessian_max_eigenvalue as hessian_max_eigenvalue
from iterlin._damping import Switched as Switched
from iterlin._divergence import Divergence as Divergence
from iterlin._dual_cost import DualCost as DualCost
from iterlin._dual_cost import dual_cost as dual_cost
from iterlin._equinox_model import EquinoxModel as EquinoxModel
from iterlin._expanded import Expanded as Expanded
from iterlin._history import Outcome as Outcome
from iterlin._history import Result as Result
from iterlin._history import Run as Run
from iterlin._kernel_estimates import Estimate as Estimate
from iterlin._kernel_estimates import kernel_cosine as kernel_cosine
from iterlin._kernel_estimates import kernel_norm as kernel_norm
from iterlin._kernel_estimates import kernel_trace as kernel_trace
from iterlin._kernels import empirical_ntk as empirical_ntk
from iterlin._kernels import empirical_ntk_by_leaf as empirical_ntk_by_leaf
from iterlin._lazy import Lazy as Lazy
from iterlin._linearise import Linearised as Linearised
from iterlin._linearise import functional as functional
from iterlin._loop import Loop as Loop
from iterlin._loop import LoopState as LoopState
from iterlin._losses import Loss as Loss
from iterlin._losses import accuracy as accuracy
from iterlin._losses import cross_entropy as cross_entropy
from iterlin._losses import squared_error as squared_error
from iterlin._parts import Adapted as Adapted
from iterlin._parts import adapted as adapted
from iterlin._parts import only as only
from iterlin._problem import Problem as Problem
from iterlin._progress import Checkpoints as Checkpoints
from iterlin._progress import Progress as Progress
from iterlin._ready_records import kernel_rank as kernel_rank
from iterlin._ready_records import sharpness as sharpness
from iterlin._records import Moment as Moment
from iterlin._records import RecordAt as RecordAt
from iterlin._rescaled import Rescaled as Rescaled
from iterlin._schedules import Adaptive as Adaptive
from iterlin._schedules import Drawn as Drawn
from iterlin._schedules import Every as Every
from iterlin._schedules import Growing as Growing
from iterlin._schedules import Guarded as Guarded
from iterlin._schedules import LevenbergMarquardt as LevenbergMarquardt
from iterlin._schedules import Never as Never
from iterlin._schedules import OnConvergence as OnConvergence
from iterlin._schedules import OnKernelMovement as OnKernelMovement
from iterlin._schedules import OnLinearisationError as OnLinearisationError
from iterlin._schedules import Quadratic as Quadratic
from iterlin._schedules import Schedule as Schedule
from iterlin._schedules import Step as Step
from iterlin._schedules import TrustRegion as TrustRegion
from iterlin._solvers import ClosedForm as ClosedForm
from iterlin._solvers import Dual as Dual
from iterlin._solvers import FirstOrder as FirstOrder
from iterlin._solvers import Flow as Flow
from iterlin._solvers import Ridge as Ridge
from iterlin._solvers import Setup as Setup
from iterlin._solvers import Solver as Solver
from iterlin._solvers import Stepwise as Stepwise
from iterlin._solvers import Taken as Taken
from iterlin._solvers import Truncated as Truncated
from iterlin._solvers import adam as adam
from iterlin._solvers import sgd as sgd
from iterlin._state import State as State
from iterlin._state import Stop as Stop
from iterlin._stream import Stream as Stream
from iterlin._training import train as train
from iterlin._training import train_many as train_many

__version__ = version("iterlin")
__all__ = [
    "Adapted",
    "Adaptive",
    "BatchModel",
    "Checkpoints",
    "ClosedForm",
    "Divergence",
    "Drawn",
    "Dual",
    "DualCost",
    "EquinoxModel",
    "Estimate",
    "Every",
    "Expanded",
    "FileCheckpoints",
    "FirstOrder",
    "Flow",
    "FullBatch",
    "Growing",
    "Guarded",
    "Lazy",
    "LevenbergMarquardt",
    "Linearised",
    "Loop",
    "LoopState",
    "Loss",
    "MiniBatch",
    "Moment",
    "Never",
    "OnConvergence",
    "OnKernelMovement",
    "OnLinearisationError",
    "Outcome",
    "Problem",
    "Progress",
    "Quadratic",
    "RecordAt",
    "Rescaled",
    "Result",
    "Ridge",
    "Run",
    "Schedule",
    "Setup",
    "Solver",
    "State",
    "Step",
    "Stepwise",
    "Stop",
    "Stream",
    "Switched",
    "Taken",
    "Truncated",
    "TrustRegion",
    "accuracy",
    "adam",
    "adapted",
    "cross_entropy",
    "dual_cost",
    "empirical_ntk",
    "empirical_ntk_by_leaf",
    "functional",
    "ggn_max_eigenvalue",
    "hessian_max_eigenvalue",
    "kernel_cosine",
    "kernel_norm",
    "kernel_rank",
    "kernel_trace",
    "only",
    "sgd",
    "sharpness",
    "squared_error",
    "train",
    "train_many",
]
