"""The lazy problem on the batch of one step, as functions of θ."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._expanded import Expanded
from iterlin._linearise import Forward, Linearised, Network
from iterlin._losses import Loss


class Lazy(NamedTuple):
    """The lazy problem on the batch of one step (see `Problem`), as functions of θ."""

    model: Linearised | Expanded | Network
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

    def network_loss(self, params: PyTree[Array]) -> Float[Array, ""]:
        """Mean ℓ(f(θ, x), y), of the network itself."""
        return self.loss(self.model.fn(params, self.x), self.y)

    def decrease(self, params: PyTree[Array]) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """How far the mean loss has fallen from θ_s to θ: that of the network, and that of f_lin."""
        start = self.network_loss(self.params0)
        return start - self.network_loss(params), start - self.loss(self.predict(params), self.y)

    def linearisation_error(self, params: PyTree[Array], x: PyTree[Array] | None = None) -> Float[Array, ""]:
        """‖f − f_lin‖ / ‖f − f_s‖ over the outputs at θ, and 0 where f = f_s; on other inputs `x` if given."""
        outputs, outputs0 = (self.model.fn(at, self.x if x is None else x) for at in (params, self.params0))
        predicted = self.predict(params) if x is None else self.model(params, x)
        moved = optax.tree.norm(optax.tree.sub(outputs, outputs0))
        error = optax.tree.norm(optax.tree.sub(outputs, predicted))
        return jnp.where(moved > 0, error / jnp.where(moved > 0, moved, 1), 0)
