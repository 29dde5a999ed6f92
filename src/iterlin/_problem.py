"""The lazy problem: what a phase minimises."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._batches import FullBatch, MiniBatch, Predict
from iterlin._linearise import Linearised, Network
from iterlin._losses import Loss
from iterlin._schedules import Schedule


class Lazy(NamedTuple):
    """The lazy problem on the batch of one step (see `Problem`), as functions of θ."""

    model: Linearised | Network
    params0: PyTree[Array]  # θ_s
    predict: Predict  # θ ↦ f_lin(θ, x)
    x: Array
    y: Array
    loss: Loss
    damping: Float[Array, ""]

    def value(self, params: PyTree[Array]) -> Float[Array, ""]:
        """Mean ℓ(f_lin(θ, x), y) + λ‖θ − θ_s‖²."""
        penalty = self.damping * optax.tree.norm(optax.tree.sub(params, self.params0), squared=True)
        return self.loss(self.predict(params), self.y) + penalty

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
        moved = jnp.linalg.norm((outputs - outputs0).ravel())
        error = jnp.linalg.norm((outputs - self.predict(params)).ravel())
        return jnp.where(moved > 0, error / jnp.where(moved > 0, moved, 1), 0)


class Problem(eqx.Module):
    """Mean ℓ(f_lin(θ, x), y) + λ‖θ − θ_s‖² over the training data: convex in θ for a convex loss ℓ.

    This is the one convention for λ: it belongs to the mean loss, and has no ½. The damped Gauss–Newton step of T
    (eq. 10), (φᵀφ + λ_T I)s = −φᵀr, minimises the sum ‖f_lin − Y‖² + λ_T‖θ − θ_s‖². As `squared_error` is half the mean
    of that sum, λ = λ_T / (2n), and the matrix of its normal equations is φᵀφ/n + 2λI. For cross-entropy T (§4.3) adds
    λ‖θ − θ_s‖² to the loss: if that is a mean, λ is the same.
    """

    fn: Callable
    loss: Loss = eqx.field(static=True)
    batches: FullBatch | MiniBatch
    x: Array
    y: Array
    damping: Float[Array, ""]
    max_loss: Float[Array, ""]

    def phase(self, params0: PyTree[Array], schedule: Schedule) -> Callable[..., tuple[Lazy, Array | None]]:
        """From a step and the epoch's order to the lazy problem of that step, in the phase from θ_s = `params0`."""
        model = schedule.model(self.fn, params0)
        at = self.batches.phase(model, self.x, self.y)

        def lazy(step, order):
            predict, x, y, order = at(step, order)
            return Lazy(model, params0, predict, x, y, self.loss, self.damping), order

        return lazy
