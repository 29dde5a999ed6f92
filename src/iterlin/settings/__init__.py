"""The sections of params.yaml as strict types."""

from iterlin.settings.adam import AdamCells as AdamCells
from iterlin.settings.base import Count as Count
from iterlin.settings.base import Initialisation as Initialisation
from iterlin.settings.base import Name as Name
from iterlin.settings.base import Strict as Strict
from iterlin.settings.base import parse_period as parse_period
from iterlin.settings.base import shown as shown
from iterlin.settings.damp1d import Damp1D as Damp1D
from iterlin.settings.damp_ce import DampCE as DampCE
from iterlin.settings.solved import Adam as Adam
from iterlin.settings.solved import Solved as Solved
from iterlin.settings.solved import Truncated as Truncated
from iterlin.settings.sweep import MLP as MLP
from iterlin.settings.sweep import Data as Data
from iterlin.settings.sweep import FixedRate as FixedRate
from iterlin.settings.sweep import FlowCheck as FlowCheck
from iterlin.settings.sweep import KSweep as KSweep
from iterlin.settings.sweep import LeNet as LeNet
from iterlin.settings.sweep import Sensitivity as Sensitivity
from iterlin.settings.sweep import StableRate as StableRate
from iterlin.settings.sweep import Training as Training
from iterlin.settings.xor import XOR as XOR
