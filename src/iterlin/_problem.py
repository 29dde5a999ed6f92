"""The lazy problem: what a phase minimises."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from iterlin._batches import FullBatch, MiniBatch, Streamed
from iterlin._damping import Switched, as_damping
from iterlin._linearise import Forward, Functional, Linearised, Network
from iterlin._losses import Loss
from iterlin._schedules import Schedule
from iterlin._state import State


class Lazy(NamedTuple):
    """The lazy problem on the batch of one step (see `Problem`), as functions of θ."""

    model: Linearised | Network
    params0: PyTree[Array]  # θ_s
    forward: Forward  # θ ↦ f_lin(θ, x), and the network's state after it
    x: PyTree[Array]
    y: PyTree[Array]
    loss: Loss
    damping: Float[Array, ""]

    def predict(self, params: PyTree[Array]) -> PyTree[Array]:
        """f_lin(θ, x)."""
        return self.forward(params)[0]

    def value_and_state(self, params: PyTree[Array]) -> tuple[Float[Array, ""], Any]:
        """The value, and the network's state after the step."""
        outputs, state = self.forward(params)
        penalty = self.damping * optax.tree.norm(optax.tree.sub(params, self.params0), squared=True)
        return self.loss(outputs, self.y) + penalty, state

    def value(self, params: PyTree[Array]) -> Float[Array, ""]:
        """Mean ℓ(f_lin(θ, x), y) + λ‖θ − θ_s‖²."""
        return self.value_and_state(params)[0]

    def value_and_gradient(self, params: PyTree[Array]) -> tuple[Float[Array, ""], PyTree[Array]]:
        """The value, and g = φ_sᵀℓ' + 2λ(θ − θ_s)."""
        return jax.value_and_grad(self.value)(params)

    def gradient(self, params: PyTree[Array]) -> PyTree[Array]:
        """g = φ_sᵀℓ' + 2λ(θ − θ_s)."""
        return jax.grad(self.value)(params)

    def curvature(self, params: PyTree[Array]) -> Callable[[PyTree[Array]], PyTree[Array]]:
        """v ↦ (φ_sᵀℓ''φ_s + 2λI) v, matrix-free: as f_lin is linear in θ, the Gauss–Newton matrix is the Hessian."""
        return jax.linearize(self.gradient, params)[1]

    def linearisation_error(self, params: PyTree[Array]) -> Float[Array, ""]:
        """‖f − f_lin‖ / ‖f − f_s‖ over the outputs at θ, and 0 where f = f_s."""
        outputs, outputs0 = (self.model.fn(at, self.x) for at in (params, self.params0))
        moved = optax.tree.norm(optax.tree.sub(outputs, outputs0))
        error = optax.tree.norm(optax.tree.sub(outputs, self.predict(params)))
        return jnp.where(moved > 0, error / jnp.where(moved > 0, moved, 1), 0)


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

    def damping_at(self, state: State) -> Float[Array, "..."]:
        """λ of the phase that a run is in."""
        return self.damping.at(state.feature_updates).astype(state.initial_norm.dtype)

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
            return Lazy(model, params0, forward, x, y, self.loss, self.damping_at(state)), order

        return lazy
