"""The section of params.yaml of E-SWEEP."""

from iterlin_lab.settings.base import MAX_STEPS, Count, ManySteps, Periods, Seeds, Strict
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solved import Solved
from iterlin_lab.settings.solvers import PhaseSolver


class KSweep(Strict):
    """E-SWEEP: its solver, its step limit, its first record after step 0, and its axis."""

    solver: PhaseSolver
    num_steps: ManySteps
    first_record: Count
    periods: Periods
    num_seeds: Seeds


class Scope(Shared):
    """What E-SWEEP may depend on: what all share, and its section, and the sections that it reads."""

    k_sweep: KSweep
    tgn_baseline: Solved


def require_as_many(section: str, num_seeds: int, sweep: KSweep) -> None:
    """**Raises**: `ValueError` if an experiment that is compared with E-SWEEP run by run has more runs."""
    if num_seeds > sweep.num_seeds:
        raise ValueError(f"{section}.num_seeds must not exceed k_sweep.num_seeds: the same runs are compared")


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    solver = scale.k_sweep.solver
    if scale.training.batch_size is not None and not solver.mini_batches:
        raise ValueError(f"training.batch_size must be null: k_sweep.solver {solver.name} needs full batches")
    if "1" not in scale.k_sweep.periods:
        raise ValueError('k_sweep.periods must contain "1": every K is compared with K = 1')
    if scale.k_sweep.num_steps >= MAX_STEPS and scale.precision != "float64":
        raise ValueError(f"k_sweep.num_steps must be below {MAX_STEPS} where precision is not float64")
    if len([K for K in scale.k_sweep.periods if K != "inf"]) < 2:
        raise ValueError('k_sweep.periods must contain a finite K besides "1": the two are compared')
    require_as_many("tgn_baseline", scale.tgn_baseline.num_seeds, scale.k_sweep)
