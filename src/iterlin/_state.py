"""What a run carries from step to step, and where it pauses."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._schedules import forever

Count = Int[Array, ""]


def _count(value: int | Count) -> Count:
    return jnp.asarray(value, int)


class State(eqx.Module):
    """Everything that the next step depends on."""

    params: PyTree[Array]  # θ_t
    params0: PyTree[Array]  # θ_s
    solver_state: Any
    schedule_state: Any
    model_state: Any  # what a network carries from step to step (see `BatchModel`)
    order: Array | None  # the epoch's permutation
    step: Count  # t
    recorded: Count  # the step of the last record; lower by one while the phase may yet end at that very step
    phase_step: Count  # t − s
    last_phase: Count  # length of the last phase that ended
    feature_updates: Count
    evaluations: Count  # of the gradient
    initial_norm: Float[Array, ""]  # ‖g‖ at the start of the phase
    due: Bool[Array, ""]  # the phase is over: the next step re-linearises first
    diverged: Bool[Array, ""]

    def at_record(self) -> "State":
        """This state, once it has been recorded.

        Where a phase ends on convergence, that it does is known from the gradient of the next step alone. The record is
        looked at again then.
        """
        return eqx.tree_at(lambda state: state.recorded, self, self.step - (~self.due).astype(self.step.dtype))


@eqx.filter_jit
def blank_state(params: PyTree[Array], model_state: Any, order: Array | None, schedule_state: Any) -> State:
    """The state before the first step, with θ_s = θ_0 and as yet no state of the solver."""
    return State(
        params=params,
        params0=params,
        solver_state=None,
        schedule_state=schedule_state,
        model_state=model_state,
        order=order,
        step=_count(0),
        recorded=_count(0),
        phase_step=_count(0),
        last_phase=_count(forever()),
        feature_updates=_count(0),
        evaluations=_count(0),
        initial_norm=jnp.zeros((), jnp.result_type(*jax.tree.leaves(params))),
        due=jnp.asarray(False),
        diverged=jnp.asarray(False),
    )


class Stop(eqx.Module):
    """Where the next record is wanted: at step `until`, `gap` steps after the last one.

    The ends of phases of `gap` steps or more are recorded too. Where phases are shorter, the record waits for the end
    of the phase, up to step `latest`. Training also pauses once it has taken `budget` evaluations of the gradient.
    """

    until: Count = eqx.field(converter=_count)
    gap: Count = eqx.field(converter=_count)
    latest: Count = eqx.field(converter=_count)
    budget: Count = eqx.field(converter=_count, default_factory=forever)

    def beyond(self, state: State) -> Bool[Array, "..."]:
        """Whether the record is still to come."""
        waiting = ~state.due & (state.last_phase < self.gap) & (state.step < self.latest)
        return (state.step < self.until) | waiting

    def reached(self, state: State) -> Bool[Array, "..."]:
        """Whether this is where the record is wanted, or the run has diverged."""
        long_phase_over = state.due & (state.last_phase >= self.gap) & (state.step > state.recorded)
        return ~self.beyond(state) | state.diverged | long_phase_over

    def remaining(self, step: Count) -> Count:
        """How many steps may be taken at once."""
        return jnp.where(step < self.until, self.until, self.latest) - step
