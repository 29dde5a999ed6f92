"""The section of params.yaml of B-FLOW, again."""

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import Fraction, Periods, Seeds, Strict, parse_period
from iterlin_lab.settings.shared import Shared


class FinerFlow(Strict):
    """Some K of E-SWEEP with a smaller tolerance of the flow."""

    tolerance: Fraction
    periods: Periods
    num_seeds: Seeds


class Scope(Shared):
    """What B-FLOW, again, may depend on: what all share, its section, and the section of E-SWEEP."""

    finer_flow: FinerFlow
    k_sweep: KSweep


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    finer, sweep = scale.finer_flow, scale.k_sweep
    if (coarse := sweep.solver.flow_tolerance) is None:
        raise ValueError("experiments.finer must be empty: the k_sweep.solver is no flow, whose error could be smaller")
    if finer.tolerance >= coarse:
        raise ValueError(f"finer_flow.tolerance must be below the tolerance of k_sweep.solver, {coarse}")
    if not {*map(parse_period, finer.periods)} <= {*map(parse_period, sweep.periods)}:
        raise ValueError("finer_flow.periods must be among k_sweep.periods: the same runs are compared")
    require_as_many("finer_flow", finer.num_seeds, sweep)
