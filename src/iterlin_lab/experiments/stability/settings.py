"""The section of params.yaml of E-STABLE."""

from iterlin_lab.settings.base import Compared, Numbers, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared


class Stability(Strict):
    """E-STABLE: which pairs of η and K diverge within `num_steps`."""

    learning_rates: Numbers
    periods: Compared
    num_steps: Steps
    num_seeds: Seeds


class Scope(Shared):
    """What E-STABLE may depend on: what all share, and its section."""

    stability: Stability
