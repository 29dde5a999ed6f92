"""The part of params.yaml that the baseline of E-SWEEP reads."""

from iterlin_lab.settings import Shared, Solved


class Scope(Shared):
    """What the baseline may depend on: what all share, and its section."""

    tgn_baseline: Solved
