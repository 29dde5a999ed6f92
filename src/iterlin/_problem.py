"""The lazy problem: what a phase minimises."""

from collections.abc import Callable

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, PyTree

from iterlin._batches import FullBatch, MiniBatch, Streamed
from iterlin._damping import Switched, as_damping
from iterlin._lazy import Lazy
from iterlin._linearise import Functional
from iterlin._losses import Loss
from iterlin._schedules import Schedule
from iterlin._state import State


class Problem(eqx.Module):
    """Mean ℓ(f_lin(θ, x), y) + λ‖θ − θ_s‖² over the training data: convex in θ for a convex loss ℓ.

    This is the one convention for λ: it belongs to the mean loss, and has no ½. The damped Gauss–Newton step of T
    (eq. 10), (φᵀφ + λ_T I)s = −φᵀr, minimises the sum ‖f_lin − Y‖² + λ_T‖θ − θ_s‖². As `squared_error` is half the mean
    of that sum, λ = λ_T / (2n), and the matrix of its normal equations is φᵀφ/n + 2λI. For cross-entropy T (§4.3) adds
    λ‖θ − θ_s‖² to the loss: if that is a mean, λ is the same.
    """

    fn: Functional
    loss: Loss = eqx.field(static=True)
    batches: FullBatch | MiniBatch | Streamed
    x: PyTree[Array]
    y: PyTree[Array]
    damping: Switched = eqx.field(converter=as_damping)
    max_loss: Float[Array, ""]
    key: Array | None = None  # of a network that draws at random

    def damping_at(self, state: State, schedule: Schedule) -> Float[Array, "..."]:
        """λ of the phase that a run is in."""
        damping = self.damping.at(state.feature_updates) * schedule.damping_factor(state.schedule_state)
        return damping.astype(state.initial_norm.dtype)

    def phase(
        self, params0: PyTree[Array], schedule: Schedule
    ) -> Callable[[State], tuple[Lazy, Int[Array, " n"] | None]]:
        """The phase from θ_s = `params0`: from the state of a run to the lazy problem of its next step.

        With it comes the order of the epoch.
        """
        kept = schedule.model(self.fn, params0).with_state(self.x) if self.batches.hoist else None

        def lazy(state: State) -> tuple[Lazy, Int[Array, " n"] | None]:
            x, y, order = self.batches.choose(self.x, self.y, state.step, state.order)
            key = None if self.key is None else jax.random.fold_in(self.key, state.step)
            model = schedule.model(self.fn.at(params0, x, state.model_state, key, state.phase_step == 0), params0)
            forward = kept or self.batches.forward(model, x)
            return Lazy(model, params0, forward, x, y, self.loss, self.damping_at(state, schedule)), order

        return lazy
