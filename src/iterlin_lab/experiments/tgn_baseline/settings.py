"""The part of params.yaml that the baseline of E-SWEEP reads."""

from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solved import Solved


class Scope(Shared):
    """What the baseline may depend on: what all share, and its section."""

    tgn_baseline: Solved
