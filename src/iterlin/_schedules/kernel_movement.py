"""Phases that end once the kernel has moved."""

import equinox as eqx
from jaxtyping import Array

from iterlin._kernel_estimates import kernel_cosine
from iterlin._schedules.adaptive import Adaptive


class OnKernelMovement(Adaptive):
    """Re-linearise once the empirical NTK at θ is further than ε from that at θ_s, by the distance of `kernel_cosine`.

    1 − ⟨Θ, Θ_s⟩/(‖Θ‖‖Θ_s‖) is estimated on the examples of the step from `num_probes` random vectors, always the same
    ones, without storing a kernel. A look costs some three evaluations of the gradient a probe, so `every` should be
    larger here.
    """

    key: Array = eqx.field(kw_only=True)
    num_probes: int = eqx.field(static=True, default=2)

    def look(self, lazy, params):
        return 1 - kernel_cosine(lazy.model.fn, params, lazy.params0, lazy.x, self.key, self.num_probes).value
