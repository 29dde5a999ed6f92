"""Why a run diverged: its last state is measured, and says the likely cause in one line."""

import dataclasses
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from iterlin._curvature import ggn_max_eigenvalue
from iterlin._execution import Fixed
from iterlin._problem import Problem
from iterlin._schedules import OnNetwork, Schedule
from iterlin._state import State


class Divergence(NamedTuple):
    """Where a run left every bound, and why.

    `step` could not be taken: it is the one after `phase_step` steps of its phase. `last_finite_step` is that of the
    last record whose losses are all finite, and None if none is. `eta_lambda_max` is the largest ηλ_max measured on the
    lazy problem of that phase, or at the initialisation if the phase had not begun; None for a solver without an η that
    ηλ_max < 2 is about. A flow has its own report of it.
    """

    step: int
    last_finite_step: int | None
    phase_step: int
    eta_lambda_max: float | None
    cause: str


def diagnose(fixed: Fixed, state: State, records: list[dict[str, float]], report: dict[str, float]) -> Divergence:
    """What ended a run whose last state, before the step that failed, is `state`."""
    explicit = fixed.solver.explicit_rate()
    rate = None if explicit is None else float(explicit)
    sharpest = None if rate is None else _sharpest(fixed, state)
    stability = report.get("eta_lambda_max") if rate is None or sharpest is None else rate * sharpest
    return Divergence(
        step=int(state.step),
        last_finite_step=_last_finite(records),
        phase_step=int(state.phase_step),
        eta_lambda_max=stability if stability is not None and math.isfinite(stability) else None,
        cause=_not_finite(state) or _unstable(rate, sharpest, state) or _left(fixed.schedule, state),
    )


def _last_finite(records: list[dict[str, float]]) -> int | None:
    for record in reversed(records):
        if all(math.isfinite(value) for name, value in record.items() if name.endswith("_loss")):
            return int(record["step"])
    return None


def _not_finite(state: State) -> str | None:
    """What was not finite from the beginning, where the data are."""
    if not all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(state.params)):
        return "not all parameters are finite: mend the initialisation"
    if state.step == 0:
        return "the first loss or its gradient is not finite: make the data or the initialisation smaller"
    return None


def _unstable(rate: float | None, sharpest: float | None, state: State) -> str | None:
    if rate is None or sharpest is None or rate * sharpest <= 2:
        return None
    where = " at the initialisation" if state.phase_step == 0 else ""
    return (
        f"ηλ_max = {rate * sharpest:.3g}{where} is above 2: explicit steps on this lazy problem are unstable; lower "
        f"the learning rate below {2 / sharpest:.3g}"
    )


def _left(schedule: Schedule, state: State) -> str:
    """After a phase of several steps whose lazy problem was well, it is the network that left the bound."""
    if state.phase_step == 0 and state.last_phase > 1 and not isinstance(schedule, OnNetwork):
        return (
            f"the phase of {int(state.last_phase)} steps was too long: the network left its linearisation; shorten the "
            "phases (smaller K), or raise the damping"
        )
    return "the loss is above its bound or not finite at this learning rate: lower it"


def _sharpest(fixed: Fixed, state: State) -> float | None:
    """The largest finite λ_max known of the lazy problem.

    In a phase it is that at θ_s or at θ. Before the first step of one, θ_s is where the network has left the bound, and
    what its steps were taken on is gone: the initialisation stands for it.
    """
    in_phase = state.phase_step > 0
    here, start = (state.params0, state.params), (fixed.origin, fixed.origin)
    seen = dataclasses.replace(state, solver_state=None)
    points = [(state.params0, state.params0), here] if in_phase else [start]
    found = [_max_eigenvalue(fixed.problem, fixed.schedule, *p, seen).item() for p in points]
    # The steps that failed were those of the last phase, if this one has not begun.
    taken = dataclasses.replace(state, feature_updates=state.feature_updates - (0 if in_phase else 1))
    # At K = 1 θ is θ_s, where the damping has no gradient.
    damping = 0.0 if state.last_phase == 1 else 2 * float(fixed.problem.damping_at(taken, fixed.schedule))
    return max((value + damping for value in found if math.isfinite(value)), default=None)


@eqx.filter_jit
def _max_eigenvalue(
    problem: Problem, schedule: Schedule, params0: PyTree[Array], params: PyTree[Array], state: State
) -> Float[Array, ""]:
    """λ_max of the Gauss–Newton matrix at θ of the lazy problem about θ_s, on the batch of a step."""
    lazy, _ = problem.phase(params0, schedule)(state)
    key = jax.random.key(0)
    return ggn_max_eigenvalue(lambda params, _: lazy.predict(params), params, lazy.x, lazy.y, lazy.loss, key)
