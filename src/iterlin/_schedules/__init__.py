"""When to re-linearise. Each schedule subclasses `Schedule`; the training loop does not know which one it has."""

from iterlin._schedules.adaptive import Adaptive as Adaptive
from iterlin._schedules.adaptive import OnLinearisationError as OnLinearisationError
from iterlin._schedules.adaptive import TrustRegion as TrustRegion
from iterlin._schedules.convergence import OnConvergence as OnConvergence
from iterlin._schedules.guarded import Guarded as Guarded
from iterlin._schedules.guarded import LevenbergMarquardt as LevenbergMarquardt
from iterlin._schedules.kernel_movement import OnKernelMovement as OnKernelMovement
from iterlin._schedules.periods import Drawn as Drawn
from iterlin._schedules.periods import Every as Every
from iterlin._schedules.periods import Growing as Growing
from iterlin._schedules.periods import Never as Never
from iterlin._schedules.periods import OnNetwork as OnNetwork
from iterlin._schedules.periods import Periodic as Periodic
from iterlin._schedules.periods import as_schedule as as_schedule
from iterlin._schedules.quadratic import Quadratic as Quadratic
from iterlin._schedules.schedule import Schedule as Schedule
from iterlin._schedules.schedule import Step as Step
from iterlin._schedules.schedule import bound_of_count as bound_of_count
from iterlin._schedules.schedule import forever as forever
