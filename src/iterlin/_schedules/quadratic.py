"""Phases that train the quadratic expansion of the network."""

from iterlin._expanded import Expanded
from iterlin._schedules.wrapped import Wrapped


class Quadratic(Wrapped):
    """A schedule whose phases train the second-order expansion of the network, `Expanded(fn, θ_s, 2)`.

    It has the first term that a linear proxy leaves out. The problem of a phase is not convex, so solvers that are made
    for linear proxies refuse it: use `sgd`, `adam` or `Flow`. In records, `proxy_…` and `linearisation_error` are those
    of the quadratic expansion.
    """

    @property
    def order(self) -> int:
        return 2

    def expansion(self, fn, params0):
        return Expanded(fn, params0, 2)
